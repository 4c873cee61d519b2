package clock

import "strconv"

// Speed is how fast clusters' clocks run, in cluster time per real time.
type Speed struct {
	Limit float64 // 1: the machine's own clock
	Auto  bool    // as fast as the machine allows, up to the limit
}

// Bent reports whether the speed needs a bent clock.
func (s Speed) Bent() bool { return s.Limit != 1 }

func (s Speed) String() string {
	if s.Auto {
		return "auto"
	}
	return strconv.FormatFloat(s.Limit, 'f', -1, 64)
}
