// The service worker that caches the page’s files for offline use. The page caches the programs itself.
const worker = /** @type {any} */ (globalThis);
const keep = async (request, answer) => {
  if (answer.ok) await (await caches.open("lockstep")).put(request, answer);
};

worker.addEventListener("install", event =>
  event.waitUntil(
    (async () => {
      const files = await (await fetch("files.json")).json();
      await (await caches.open("lockstep")).addAll(files);
      await worker.skipWaiting();
    })(),
  ),
);
worker.addEventListener("activate", event => event.waitUntil(worker.clients.claim()));
worker.addEventListener("fetch", event => {
  const { request } = event;
  if (request.method !== "GET" || new URL(request.url).pathname.endsWith(".packed")) return;
  event.respondWith(
    fetch(request)
      .then(answer => {
        event.waitUntil(keep(request, answer.clone()));
        return answer;
      })
      .catch(async failure => {
        const answer = await caches.match(request, { ignoreSearch: true });
        if (answer) return answer;
        throw failure;
      }),
  );
});
