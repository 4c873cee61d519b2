package measure

import (
	"math"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plumbline-e2e/plumbline/e2e/report/chart"
)

type ownerReference = metav1.OwnerReference

// samples is how many points a curve has at most.
const samples = 336 // two for each hour of a week

// series is a value that changes in steps.
type series struct {
	began   time.Time
	changes []change
	value   float64
}

type change struct {
	at    time.Time
	value float64 // from then on
}

func (s *series) add(at time.Time, by float64) {
	s.value += by
	s.changes = append(s.changes, change{at, s.value})
}

// mean returns the mean over time, from the beginning to the end.
func (s *series) mean(end time.Time) float64 {
	sum, before, value := 0.0, s.began, 0.0
	for _, c := range s.changes {
		sum += value * c.at.Sub(before).Seconds()
		before, value = c.at, c.value
	}
	sum += value * end.Sub(before).Seconds()
	if took := end.Sub(s.began).Seconds(); took > 0 {
		return sum / took
	}
	return 0
}

// sampled returns the series as points at equal distances, in hours since the beginning. Each is the mean until the
// next one.
func (s *series) sampled(end time.Time) []chart.Point {
	width := end.Sub(s.began) / samples
	if width <= 0 {
		return nil
	}
	points := make([]chart.Point, samples)
	next, value := 0, 0.0
	for i := range points {
		from := s.began.Add(time.Duration(i) * width)
		window := series{began: from, changes: []change{{from, value}}}
		for ; next < len(s.changes) && s.changes[next].at.Before(from.Add(width)); next++ {
			value = s.changes[next].value
			window.changes = append(window.changes, change{s.changes[next].at, value})
		}
		points[i] = chart.Point{At: from.Sub(s.began).Hours(), Value: rounded(window.mean(from.Add(width)))}
	}
	return points
}

func rounded(x float64) float64 { return math.Round(x*1e4) / 1e4 }

// quantile returns the smallest value that a share of all values does not exceed. It sorts the values.
func quantile(values []float64, share float64) float64 {
	slices.Sort(values)
	return values[max(0, int(math.Ceil(share*float64(len(values))))-1)]
}
