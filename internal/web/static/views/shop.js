export function show(main) {
  main.append(document.createElement("p"));
  return () => {};
}
