package classroom

import (
	"cmp"
	"maps"
	"slices"
)

// MostBadges is how many badges there are: the page calls each by an animal and a number.
const MostBadges = 12 * 99

// Board is who broke what in the room.
type Board struct {
	Participants int     `json:"participants"`
	Levels       []Score `json:"levels"` // those that somebody has solved
}

// Score is what the room made of a level.
type Score struct {
	Lock   string `json:"lock"`
	Solved int    `json:"solved"` // by how many
	Fewest int    `json:"fewest"` // steps
	By     int    `json:"by"`     // the badge of the first who needed so few
}

// solution is a participant's best of a level.
type solution struct {
	steps, badge int
	turn         int // how many solutions came before
}

// better orders solutions: fewer steps, and then the earlier one.
func better(a, b solution) int { return cmp.Or(a.steps-b.steps, a.turn-b.turn) }

// Solve takes it that a participant has solved the level of a lock in so many steps; the fewest count.
func (r *Room) Solve(who, lock string, steps int) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	is, err := r.attend(who)
	if err != nil {
		return err
	}
	r.solved++
	if now := (solution{steps, is.badge, r.solved}); is.levels[lock].steps == 0 || better(now, is.levels[lock]) < 0 {
		is.levels[lock] = now
	}
	return nil
}

// Board gives the board of the room.
func (r *Room) Board() (Board, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	state := r.state()
	if !state.Open {
		return Board{}, ErrNoRoom
	}
	all := map[string][]solution{}
	for _, who := range r.in {
		for lock, best := range who.levels {
			all[lock] = append(all[lock], best)
		}
	}
	board := Board{state.Participants, []Score{}}
	for _, lock := range slices.Sorted(maps.Keys(all)) {
		first := slices.MinFunc(all[lock], better)
		board.Levels = append(board.Levels, Score{lock, len(all[lock]), first.steps, first.badge})
	}
	return board, nil
}
