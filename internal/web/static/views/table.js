export function show(main) {
  main.append("…");
  return () => {};
}
