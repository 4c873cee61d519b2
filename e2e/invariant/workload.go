package invariant

import "time"

// workload is how many pods an owner has, now and a little while ago: as many as it
// had at most in that time is what it wants to have.
type workload struct {
	active int
	recent []headcount // the last is how it is now
}

type headcount struct {
	from   time.Time
	active int
}

func (w *workload) change(by int, now time.Time) {
	w.active += by
	w.recent = append(w.recent, headcount{now, w.active})
	for len(w.recent) > 1 && now.Sub(w.recent[1].from) > stale {
		w.recent = w.recent[1:]
	}
}

// wanted is how many pods the workload had at most until now.
func (w *workload) wanted(now time.Time) int {
	most := w.active
	for i, h := range w.recent {
		if i+1 == len(w.recent) || now.Sub(w.recent[i+1].from) <= stale {
			most = max(most, h.active)
		}
	}
	return most
}
