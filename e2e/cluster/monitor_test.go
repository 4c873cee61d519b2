package cluster

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"
)

// fake is a component that answers after some time.
type fake struct {
	name  string
	after atomic.Int64 // ns; negative: never
	asked atomic.Int64
	gone  atomic.Bool // it need not answer now
}

func (f *fake) component() Component {
	return Component{
		Name: f.name,
		Ask: func(ctx context.Context) error {
			f.asked.Add(1)
			after := time.Duration(f.after.Load())
			if after < 0 {
				<-ctx.Done()
				return ctx.Err()
			}
			select {
			case <-time.After(after):
				return errors.New("that is an answer too")
			case <-ctx.Done():
				return ctx.Err()
			}
		},
		Log: func(context.Context) []string { return []string{"last words of " + f.name} },
	}
}

// monitored returns a monitor of fakes, and its progress messages.
func monitored(all ...*fake) (m *Monitor, said *[]string) {
	said = &[]string{}
	return &Monitor{
		Components: func() (now []Component) {
			for _, f := range all {
				if !f.gone.Load() {
					now = append(now, f.component())
				}
			}
			return now
		},
		Progress: func(step string) { *said = append(*said, step) },
	}, said
}

func TestComponentsAreAskedOnceASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		etcd, server := &fake{name: "etcd"}, &fake{name: "kube-apiserver"}
		m, said := monitored(etcd, server)
		ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second+time.Millisecond)
		defer cancel()
		g.Expect(m.Run(ctx)).To(BeZero())
		g.Expect(etcd.asked.Load()).To(BeEquivalentTo(60))
		g.Expect(server.asked.Load()).To(BeEquivalentTo(60))
		g.Expect(*said).To(BeEmpty())
	})
}

func TestAComponentThatHangsIsNamed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		etcd, server, scheduler := &fake{name: "etcd"}, &fake{name: "kube-apiserver"}, &fake{name: "kube-scheduler"}
		m, said := monitored(etcd, server, scheduler)
		time.AfterFunc(30500*time.Millisecond, func() { server.after.Store(-1); scheduler.after.Store(-1) })
		began := time.Now()
		hung := m.Run(t.Context())
		g.Expect(hung).To(HaveValue(Equal(Death{
			Component: "kube-apiserver", Silent: 7 * time.Second, LastLines: []string{"last words of kube-apiserver"},
		})), "the scheduler needs it")
		g.Expect(*hung).To(MatchError("kube-apiserver has not answered for 7 s"))
		g.Expect(time.Since(began)).To(Equal(38 * time.Second))
		g.Expect(*said).To(Equal([]string{"kube-apiserver has not answered for 4 s"}))
	})
}

func TestALateAnswerIsAnAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		server := &fake{name: "kube-apiserver"}
		server.after.Store(int64(6900 * time.Millisecond))
		m, said := monitored(server)
		g.Expect(m.Ask(t.Context())).To(BeZero())
		g.Expect(*said).To(Equal([]string{"kube-apiserver has not answered for 4 s", "kube-apiserver answers again"}))

		server.after.Store(int64(3900 * time.Millisecond))
		m, said = monitored(server)
		g.Expect(m.Ask(t.Context())).To(BeZero())
		g.Expect(*said).To(BeEmpty())
	})
}

// A component that is paused on purpose need not answer.
func TestAComponentThatNeedNotAnswerAnyMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		kwok := &fake{name: "kwok-controller"}
		kwok.after.Store(-1)
		m, said := monitored(&fake{name: "etcd"}, kwok)
		time.AfterFunc(2500*time.Millisecond, func() { kwok.gone.Store(true) })
		began := time.Now()
		g.Expect(m.Ask(t.Context())).To(BeZero())
		g.Expect(time.Since(began)).To(Equal(3 * time.Second))
		g.Expect(*said).To(BeEmpty())
	})
}

// A stall of the whole machine for a minute does not prove that a component hangs.
func TestSecondsThatNobodySawDoNotCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		server := &fake{name: "kube-apiserver"}
		server.after.Store(int64(61 * time.Second))
		m, _ := monitored(server)
		m.Components = func() func() []Component {
			list, calls := m.Components, 0
			return func() []Component {
				if calls++; calls == 2 {
					<-time.After(time.Minute) // during the first second
				}
				return list()
			}
		}()
		g.Expect(m.Ask(t.Context())).To(BeZero())
	})
}

func TestTheEndOfAMonitorIsNoDeath(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &fake{name: "kube-apiserver"}
		server.after.Store(-1)
		m, _ := monitored(server)
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		NewWithT(t).Expect(m.Run(ctx)).To(BeZero())
	})
}
