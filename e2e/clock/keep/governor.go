//go:build linux && (amd64 || arm64)

package keep

import (
	"bytes"
	"os"
	"strconv"
	"time"
)

// How idle the machine is to be, as a share of all CPUs, and how the speed is
// changed at each beat: in steps up, by factors down.
const (
	plenty = 0.30 // above which the clock runs faster
	little = 0.15 // below which it runs slower

	step  = 1.0
	ease  = 0.85
	brake = 0.5

	smoothing = 0.3 // weight of the newest measure of idleness: half a second counts
)

// governor says how fast a clock may run.
type governor struct {
	stat        *os.File
	idle, total float64 // ticks of all CPUs until the last beat
	share       float64 // how idle the machine is, smoothed
	lag         time.Duration
}

func newGovernor() *governor {
	g := &governor{share: little}
	g.stat, _ = os.Open("/proc/stat") // always there
	g.idle, g.total = g.ticks()
	return g
}

// next is the speed until the next beat.
func (g *governor) next(speed float64) float64 {
	idle, total := g.ticks()
	if total > g.total {
		g.share += smoothing * ((idle-g.idle)/(total-g.total) - g.share)
		g.idle, g.total = idle, total
	}
	lag := g.lag
	g.lag = 0
	return pace(speed, g.share, lag)
}

// pace is the speed to go on with, on a machine that is idle to a share, after a lag.
func pace(speed, idle float64, lag time.Duration) float64 {
	switch {
	case lag > Tolerable:
		return speed * brake
	case idle < little:
		return speed * ease
	case idle > plenty:
		return speed + step
	}
	return speed
}

// ticks are those that all CPUs were idle, and all there were: the first line of
// /proc/stat, see proc(5).
func (g *governor) ticks() (idle, total float64) {
	var line [512]byte
	n, _ := g.stat.ReadAt(line[:], 0)
	first, _, _ := bytes.Cut(line[:n], []byte{'\n'})
	for i, f := range bytes.Fields(first) {
		v, _ := strconv.ParseFloat(string(f), 64) // 0 for the word "cpu"
		total += v
		if i == 4 || i == 5 { // idle, and waiting for a disk
			idle += v
		}
	}
	return idle, total
}
