// Applies the stored theme, size and language before anything is drawn; ?lang= overrides the language.
{
  const root = document.documentElement;
  const kept = name => {
    try {
      return localStorage.getItem("lockstep." + name);
    } catch {
      return null;
    }
  };
  if (kept("theme")) root.dataset.theme = kept("theme");
  if (kept("size")) root.dataset.size = kept("size");
  const asked = new URLSearchParams(location.search).get("lang") ?? kept("lang") ?? navigator.language;
  root.lang = asked.startsWith("zh") ? "zh" : "en";
}
