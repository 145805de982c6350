// Critical sections, put in order so that any part of 10,000 of them is drawn at once.

// arrange gives the sections by begin, each with its row; the rows of each replica; overlaps, pairs that were inside
// together; and crowded, the stretches of time in which more than one was inside.
export function arrange(sections, replicas) {
  const sorted = [...sections].sort((a, b) => a.from - b.from);
  const rows = new Map(replicas.map(name => [name, []])); // of each replica: when each row is free
  const latest = [],
    overlaps = [],
    crowded = [];
  let open = null; // what has begun and ends last
  for (const section of sorted) {
    if (!rows.has(section.replica)) rows.set(section.replica, []);
    const free = rows.get(section.replica);
    let row = free.findIndex(ends => ends <= section.from);
    if (row < 0) row = free.length;
    free[row] = section.to;
    section.row = row;
    if (open && section.from < open.to) {
      const to = Math.min(open.to, section.to),
        last = crowded.at(-1);
      overlaps.push({ a: open, b: section, from: section.from, to });
      if (last && section.from <= last.to) last.to = Math.max(last.to, to);
      else crowded.push({ from: section.from, to });
    }
    if (!open || section.to > open.to) open = section;
    latest.push(open.to);
  }
  const bands = [];
  let above = 0;
  for (const [name, free] of rows) {
    bands.push({ name, above, rows: Math.max(free.length, 1) });
    above += Math.max(free.length, 1);
  }
  return { sorted, latest, overlaps, crowded, bands, rows: above, from: sorted[0]?.from ?? 0, to: latest.at(-1) ?? 0 };
}

// first is the index of the first of a rising list that test accepts.
export function first(list, test) {
  let low = 0,
    high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (test(list[middle])) high = middle;
    else low = middle + 1;
  }
  return low;
}

// partner is who was inside longest together with a section; null if nobody was.
export function partner(all, section) {
  let best = null,
    longest = 0;
  for (
    let i = first(all.latest, to => to > section.from);
    i < all.sorted.length && all.sorted[i].from < section.to;
    i++
  ) {
    const other = all.sorted[i],
      shared = Math.min(other.to, section.to) - Math.max(other.from, section.from);
    if (other !== section && shared > longest) [best, longest] = [other, shared];
  }
  return best && { a: section, b: best, from: Math.max(section.from, best.from), to: Math.min(section.to, best.to) };
}
