package session

// Counts says how many states are so far away: how many by the number of steps, and how many never show the anomaly.
func (d Distances) Counts() (away map[int]int, never int) {
	away = map[int]int{}
	for _, steps := range d {
		if steps == Never {
			never++
		} else {
			away[int(steps)]++
		}
	}
	return away, never
}
