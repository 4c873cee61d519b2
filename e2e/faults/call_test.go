package faults

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// simulated is a simulator that has faults already.
type simulated struct {
	mu    sync.Mutex
	asked []string
	all   []struck
}

func (s *simulated) ask(_ context.Context, method string, query url.Values) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch method {
	case http.MethodPost:
		s.asked, s.all = append(s.asked, query.Encode()), append(s.all, struck{})
	case http.MethodDelete:
		s.all = nil
	}
	return json.Marshal(s.all)
}

// strikes sets how often the last fault has struck.
func (s *simulated) strikes(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all[len(s.all)-1].Struck = n
}

func TestFaultsOfCallsAreBegunInTheSimulatorsWords(t *testing.T) {
	create := OnCall("ec2:CreateFleet")
	for _, row := range []struct {
		fault       Fault
		query, text string
	}{
		{
			CrashBefore(create), "call=ec2%3ACreateFleet&count=1&kind=silent",
			"the controller is killed before call ec2:CreateFleet",
		},
		{
			CrashAfter(create.Nth(3)), "call=ec2%3ACreateFleet&count=1&kind=held&skip=2",
			"the controller is killed after request 3 to call ec2:CreateFleet",
		},
		{LoseAnswer(create).Always(), "call=ec2%3ACreateFleet&kind=lost", "the answer is lost of call ec2:CreateFleet"},
		{
			Refuse(create, apierrors.NewTooManyRequests("", 1)).Times(2), "call=ec2%3ACreateFleet&count=2&kind=throttle",
			"refused: call ec2:CreateFleet (429 TooManyRequests)",
		},
		{
			DelayAnswer(create, time.Second), "by=1s&call=ec2%3ACreateFleet&count=1&kind=slow",
			"answered late: call ec2:CreateFleet, by 1s",
		},
	} {
		g := NewWithT(t)
		g.Expect(row.fault.Check()).To(Succeed())
		s := &simulated{}
		a, err := Cloud(s.ask).Begin(t.Context(), row.fault, nil)
		g.Expect(err).NotTo(HaveOccurred())
		a.End()
		g.Expect(s.asked).To(ConsistOf(row.query))
		g.Expect(row.fault.String()).To(Equal(row.text))
	}
}

func TestFaultsThatNoCloudHas(t *testing.T) {
	create := OnCall("CreateVM")
	for _, row := range []struct {
		fault Fault
		wrong string
	}{
		{Delay(create, time.Second), "a simulated cloud can't do that; it can lose an answer"},
		{Refuse(create, apierrors.NewConflict(karpenter.Nodes.GroupResource(), "n", nil)), "refuse with 403, 429 or 500"},
		{LoseAnswer(create.Named("vm")), "neither verb nor resource"},
		{LoseAnswer(create.Nth(-1)), "counted from 1"},
	} {
		_, err := Cloud(nil).Begin(t.Context(), row.fault, nil)
		NewWithT(t).Expect(err).To(MatchError(ContainSubstring(row.wrong)))
	}
	refusal := func(context.Context, string, url.Values) ([]byte, error) { return nil, errors.New("there is no call") }
	_, err := Cloud(refusal).Begin(t.Context(), LoseAnswer(create), nil)
	NewWithT(t).Expect(err).To(MatchError("the answer is lost of call CreateVM: there is no call"))
}

func TestWhatAFaultOfCallsStrikesIsCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		s := &simulated{all: []struck{{Struck: 7}}} // another fault was there before
		var told []string
		strike := func(_ context.Context, r Request) error {
			told = append(told, r.Kind())
			return nil
		}
		a, err := Cloud(s.ask).Begin(t.Context(), LoseAnswer(OnCall("CreateVM")).Times(2), strike)
		g.Expect(err).NotTo(HaveOccurred())
		<-time.After(time.Second)
		g.Expect(a.Struck()).To(BeZero())
		for n := 1; n <= 2; n++ {
			s.strikes(n)
			<-time.After(time.Second)
			g.Expect(a.Await(t.Context())).To(Succeed())
			g.Expect(a.Struck()).To(Equal(n))
		}
		g.Expect(told).To(Equal([]string{"call CreateVM"}), "only the first is told")
		a.End()
		g.Expect(s.all).To(BeEmpty())
	})
}

func TestAStrikeShortlyBeforeTheEndIsSeen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		s := &simulated{}
		a, err := Cloud(s.ask).Begin(t.Context(), LoseAnswer(OnCall("CreateVM")),
			func(context.Context, Request) error { return nil })
		g.Expect(err).NotTo(HaveOccurred())
		synctest.Wait() // the first look
		s.strikes(1)
		a.End()
		g.Expect(a.Struck()).To(Equal(1))
	})
}

func TestKindsOfCalls(t *testing.T) {
	g := NewWithT(t)
	for _, kind := range []string{"call ec2:CreateFleet", "call PUT microsoft.compute/virtualmachines/*"} {
		on, err := ParseKind(kind)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(on.String()).To(Equal(kind))
		g.Expect(PatternConflict.Strikes(kind)).To(BeFalse())
		g.Expect(PatternCrashAfter.Strikes(kind)).To(BeTrue())
	}
	g.Expect(PatternConflict.Strikes("patch nodes")).To(BeTrue())
	_, err := ParseKind("call ")
	g.Expect(err).To(HaveOccurred())
}
