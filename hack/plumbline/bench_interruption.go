package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/clock"
	"github.com/plumbline-e2e/plumbline/e2e/env"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/e2e/report"
	"github.com/plumbline-e2e/plumbline/e2e/session"
	"github.com/plumbline-e2e/plumbline/fixtures"
	"github.com/plumbline-e2e/plumbline/providers"
)

// announced is how many announcements are made at once: as many messages as in a provider's own benchmark,
// pkg/controllers/interruption/interruption_benchmark_test.go of karpenter-provider-aws.
func announced() []int { return []int{100, 1000, 5000, 15000} }

// announcedNodes is how many nodes a cluster has. Each is named by one announcement.
const announcedNodes = 32

const (
	announcedWithin = 20 * time.Minute       // for all of a cluster
	announcedEvery  = 100 * time.Millisecond // how often the cloud is asked how many are left
)

// interruptions measures how long the controller takes for many announcements at once, and what that costs it. Each
// number of them gets a cluster of its own, in real time: how fast messages are handled says nothing in bent time. It
// fails if one is lost, or if a node that ends is not replaced. Messages that are handled again are counted only, since
// a queue may give them again, and so are errors in the controller's log: a busy machine makes some about its lease.
func interruptions(ctx context.Context, plan *session.Plan, count int, scratch string) ([]figure, error) {
	if backend := plan.Setup.Backend.Name; backend != "local" {
		return nil, fmt.Errorf("CLUSTER=%s: CPU and memory are known of local clusters' processes only", backend)
	}
	unbent := *plan
	unbent.Setup.Speed = clock.Speed{Limit: 1}
	i := &interruption{count: count, name: fmt.Sprintf("bench-%d-interruption-%d", os.Getpid(), count)}
	err := i.on(ctx, &unbent, filepath.Join(scratch, i.name))
	return i.figures, err
}

// interruption measures one number of announcements.
type interruption struct {
	count   int
	name    string // of the cluster
	usage   *processMeter
	session *session.Session
	figures []figure
}

// on starts a cluster and judges what happens on it like a spec.
func (i *interruption) on(ctx context.Context, plan *session.Plan, folder string) (err error) {
	if i.session, err = plan.Start(ctx, i.name, filepath.Join(folder, "logs")); err != nil {
		return err
	}
	i.usage = newProcessMeter(plan.Cache, i.name)
	o, _ := i.session.Run(ctx, session.Work{
		Outcome: report.Outcome{Provider: plan.Setup.Adapter.Name, ID: "bench/interruption", Spec: "handles announcements"},
		Run:     i.run, Within: announcedWithin, Recording: filepath.Join(folder, "recording.jsonl"),
	})
	logged := 0
	for _, e := range o.Errors {
		logged += e.Times
		step(fmt.Sprintf("the controller logged an error, %d times: %s", e.Times, e.Line))
	}
	i.add("errors in the controller's log", "", float64(logged))
	if o.Verdict != report.Passed {
		err = fmt.Errorf("%s: %s\n%s", o.Verdict, o.Reason, o.Detail)
	}
	return errors.Join(err, i.session.Close(context.WithoutCancel(ctx)))
}

func (i *interruption) add(name, unit string, value float64) {
	i.figures = append(i.figures, figure{
		Name: fmt.Sprintf("%d messages: %s", i.count, name), Value: value, Unit: unit,
	})
}

func (i *interruption) run(ctx context.Context, e *env.Env) {
	pool := fixtures.NodePool().CapacityType(karpenter.Spot).ConsolidateAfter("Never")
	app := fixtures.Deployment(announcedNodes).OnePodPerNode().On(pool)
	e.Launch(ctx, announcedNodes, pool, app)

	before, used := e.Mark(), i.usage.read()[karpenterProcess]
	began := time.Now()
	all := announcedTo{}
	i.ask(ctx, e, providers.AnnounceMany, &all)
	handled := i.await(ctx, e, func(a announcements) bool { return a.Left == 0 })
	used = i.usage.read()[karpenterProcess] - used
	memory := i.usage.most[karpenterProcess]

	ending := nodesOf(pool, all.Ending, "whose end was announced")
	staying := nodesOf(pool, all.Staying, "that go on")
	e.Await(ctx, 0, ending)
	e.Await(ctx, announcedNodes, check.RunningPods(app).On(check.ReadyNodes(pool)))
	replaced := time.Since(began)
	last := i.await(ctx, e, func(a announcements) bool { return a.Waiting == 0 })
	e.Expect(e.Since(before),
		check.LeadsTo(check.AtLeast(1, ending), check.None(ending)),
		check.Always(check.Exactly(len(all.Staying), staying)))
	i.add("until all are handled", "s", handled.Seconds)
	i.add("rate", "per s", float64(i.count)/handled.Seconds)
	i.add("calls for them", "", float64(handled.Calls))
	i.add("received or deleted again", "messages", float64(last.Again))
	i.add("the controller's CPU time", "s", used)
	i.add("the controller's memory, the most", "MB", memory)
	i.add(fmt.Sprintf("until %d nodes are replaced", len(all.Ending)), "s", replaced.Seconds())
}

// announcedTo is the answer of AnnounceMany: provider IDs.
type announcedTo struct{ Ending, Staying []string }

// nodesOf counts the ready nodes of a pool with some provider IDs.
func nodesOf(pool *fixtures.Pool, ids []string, words string) check.Count {
	return check.ReadyNodes(pool).With(words, func(o *unstructured.Unstructured) bool {
		return slices.Contains(ids, karpenter.NodeProviderID(o))
	})
}

// announcements is the answer of Announcements.
type announcements struct {
	Left, Waiting, Again, Calls int
	Seconds                     float64
}

// ask calls a hook that answers with JSON.
func (i *interruption) ask(ctx context.Context, e *env.Env, hook providers.HookName, into any) {
	answer, err := i.session.Provider.Call(ctx, hook, providers.HookValues{Count: i.count})
	if err == nil {
		err = json.Unmarshal(answer, into)
	}
	if err != nil {
		e.Fail("hook %s: %v: %.200q", hook, err, answer)
	}
}

// await waits until the announcements are so.
func (i *interruption) await(ctx context.Context, e *env.Env, done func(announcements) bool) (now announcements) {
	err := wait.PollUntilContextCancel(ctx, announcedEvery, true, func(ctx context.Context) (bool, error) {
		now = announcements{}
		i.ask(ctx, e, providers.Announcements, &now)
		i.usage.read() // memory
		return done(now), nil
	})
	if err != nil {
		e.Fail("the announcements were not handled within %s: %+v", announcedWithin, now)
	}
	return now
}
