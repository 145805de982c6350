package session

// Counts returns the number of states by distance, and the number of states that never reach the goal.
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
