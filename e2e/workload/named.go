package workload

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// maker makes a workload. It deals out random numbers in a fixed order, so that a seed gives the same each time.
type maker struct {
	Workload
	random *rand.Rand
	pool   *fixtures.Pool // that services run on
}

func newMaker(name string, seed uint64) *maker {
	return &maker{Workload: Workload{Name: name, Seed: seed}, random: rand.New(rand.NewPCG(seed, uint64(len(name))))}
}

func (m *maker) finished() *Workload {
	m.sort()
	return &m.Workload
}

func (m *maker) apply(at time.Duration, o fixtures.Object) {
	m.Actions = append(m.Actions, Action{At: at, Object: o.Unstructured()})
}

func (m *maker) remove(at time.Duration, o fixtures.Object) {
	m.Actions = append(m.Actions, Action{At: at, Object: o.Unstructured(), Delete: true})
}

// fleet begins with a NodePool of small nodes and a DaemonSet.
func (m *maker) fleet(consolidateAfter string) {
	m.addPool("general", consolidateAfter)
	m.apply(0, fixtures.DaemonSet().Called("agent").CPU("100m"))
}

// addPool begins with a NodePool of small nodes, with Karpenter's own budgets. Services that follow run on it.
func (m *maker) addPool(name, consolidateAfter string) {
	m.pool = fixtures.NodePool().Called(name).DefaultBudgets().OnDemand().
		ConsolidationPolicy(fixtures.WhenEmptyOrUnderutilized).ConsolidateAfter(consolidateAfter).
		Require(CPULabel, "Lt", "9")
	m.apply(0, m.pool)
}

// service is a Deployment that is scaled and rolled.
type service struct {
	*fixtures.Workload
	base, replicas, version int
}

// services starts n services with so many replicas on average.
func (m *maker) services(n, replicas int) []*service {
	all := make([]*service, n)
	for i := range all {
		all[i] = m.service(fmt.Sprintf("service-%02d", i), replicas)
		m.start(all[i])
	}
	return all
}

// service makes a service of random size.
func (m *maker) service(name string, replicas int) *service {
	cpu := []int{250, 500, 500, 1000, 1500, 2000}[m.random.IntN(6)]
	memory := cpu * []int{1, 2, 4, 6}[m.random.IntN(4)]
	base := max(2, replicas/2+m.random.IntN(replicas+1))
	return &service{base: base, replicas: base, Workload: fixtures.Deployment(base).Called(name).
		CPU(strconv.Itoa(cpu) + "m").Memory(strconv.Itoa(memory) + "Mi").On(m.pool)}
}

// start applies a service at the beginning, with a PodDisruptionBudget.
func (m *maker) start(s *service) {
	m.apply(0, s)
	m.apply(0, s.MaxUnavailable(max(1, s.base/4)))
}

func (m *maker) scale(at time.Duration, s *service, replicas int) {
	if replicas = max(1, replicas); replicas != s.replicas {
		s.replicas = replicas
		m.apply(at, s.Replicas(replicas))
	}
}

// roll changes the pods' template, as a new version does.
func (m *maker) roll(at time.Duration, s *service) {
	s.version++
	s.Annotate(fixtures.Key("version"), strconv.Itoa(s.version))
	m.apply(at, s)
}

// batch applies pods that must not be moved, and deletes them when their work is done. Jobs would not do: KWOK
// completes their pods at once.
func (m *maker) batch(at, took time.Duration, name string, pods int, cpu string) {
	d := fixtures.Deployment(pods).Called(name).CPU(cpu).On(m.pool).Annotate(karpenter.DoNotDisruptAnnotation, "true")
	m.apply(at, d)
	m.remove(at+took, d)
}

// jitter returns a random time below d, in whole seconds.
func (m *maker) jitter(d time.Duration) time.Duration {
	return time.Duration(m.random.Int64N(int64(d/time.Second))) * time.Second
}

const day = 24 * time.Hour

// week is a working week, from Monday at midnight: services that follow the day, with less load at the weekend,
// a release of some of them every working day, and a batch every night.
func week(m *maker) {
	m.Length = 7 * day
	m.fleet("1m")
	all := m.services(12, 10)
	for d := range 7 {
		weekend := d >= 5
		hours := []int{6, 8, 9, 11, 13, 15, 17, 19, 22}
		if weekend {
			hours = []int{9, 21}
		}
		today := time.Duration(d) * day
		m.batch(today+2*time.Hour, 50*time.Minute, fmt.Sprintf("batch-%d", d), 16+m.random.IntN(16), "1")
		for _, hour := range hours {
			at := today + time.Duration(hour)*time.Hour
			load := load(hour, weekend)
			for _, s := range all {
				share := load * (0.85 + 0.3*m.random.Float64())
				m.scale(at+m.jitter(2*time.Minute), s, int(math.Round(float64(s.base)*share)))
			}
		}
		for n := 0; n < 3 && !weekend; n++ {
			m.roll(today+14*time.Hour+time.Duration(n)*time.Minute, all[m.random.IntN(len(all))])
		}
	}
}

// load is what services need at an hour, as a share of their average.
func load(hour int, weekend bool) float64 {
	top := 1.6
	if weekend {
		top = 0.7
	}
	return 0.4 + (top-0.4)*math.Max(0, math.Sin(math.Pi*float64(hour-5)/17))
}

// night is twelve hours of batches of different sizes, beside a few services.
func night(m *maker) {
	m.Length = 12 * time.Hour
	m.fleet("1m")
	m.services(4, 6)
	for n := range 24 {
		at := 5*time.Minute + m.jitter(10*time.Hour)
		took := 5*time.Minute + m.jitter(85*time.Minute)
		m.batch(at, took, fmt.Sprintf("batch-%02d", n), 4+m.random.IntN(28), []string{"500m", "1", "2"}[m.random.IntN(3)])
	}
}

// rollout is two hours in which services are released: one every few minutes, and three times half of them at once.
func rollout(m *maker) {
	m.Length = 2 * time.Hour
	m.fleet("1m")
	all := m.services(16, 8)
	for at := 5 * time.Minute; at < m.Length-10*time.Minute; at += 4 * time.Minute {
		m.roll(at, all[m.random.IntN(len(all))])
	}
	for _, at := range []time.Duration{20 * time.Minute, 50 * time.Minute, 80 * time.Minute} {
		for _, i := range m.random.Perm(len(all))[:len(all)/2] {
			m.roll(at+m.jitter(30*time.Second), all[i])
		}
	}
}

// spiky is ninety minutes of services that are scaled all the time, as autoscalers do: each minute some of them by a
// little, and now and then one by much. Most nodes have seen a pod come or go within consolidateAfter.
func spiky(m *maker) {
	m.Length = 90 * time.Minute
	m.fleet("2m")
	all := m.services(16, 9)
	for at := 3 * time.Minute; at < m.Length-5*time.Minute; at += time.Minute {
		for range 4 {
			s := all[m.random.IntN(len(all))]
			wanted := float64(s.base) * (0.5 + m.random.Float64())
			m.scale(at+m.jitter(time.Minute), s, s.replicas+int(math.Round((wanted-float64(s.replicas))/2)))
		}
		if at%(12*time.Minute) == 0 {
			s := all[m.random.IntN(len(all))]
			m.scale(at, s, 4*s.base)
			m.scale(at+4*time.Minute, s, s.base)
		}
	}
}

// teams is half an hour of twenty teams, each with a NodePool and a service of its own that is spread over zones and
// nodes. What Karpenter does for each NodePool or each spread pod shows in its CPU time.
func teams(m *maker) {
	m.Length = 30 * time.Minute
	m.fleet("2m")
	all := make([]*service, 20)
	for i := range all {
		name := fmt.Sprintf("team-%02d", i)
		m.addPool(name, "2m")
		all[i] = m.service(name, 4)
		all[i].Spread(fixtures.TopologySpread(corev1.LabelTopologyZone)).
			Spread(fixtures.TopologySpread(corev1.LabelHostname).ScheduleAnyway())
		m.start(all[i])
	}
	for at := 3 * time.Minute; at < m.Length-5*time.Minute; at += time.Minute {
		s := all[m.random.IntN(len(all))]
		m.scale(at+m.jitter(time.Minute), s, s.base/2+m.random.IntN(s.base+1))
	}
}
