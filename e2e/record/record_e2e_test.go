//go:build e2e

package record_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/util/rand"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/record"
	"github.com/plumbline-e2e/plumbline/e2e/report"
	"github.com/plumbline-e2e/plumbline/e2e/session"
	"github.com/plumbline-e2e/plumbline/fixtures"
	"github.com/plumbline-e2e/plumbline/providers"
)

// A redacted recording of a cluster whose node is replaced has every state of every object that the spec's own
// recording has, no gap, and no name.
func TestARedactedRecordingOfARealCluster(t *testing.T) {
	g, ctx := NewWithT(t), t.Context()
	t.Setenv("SPEED", "1") // as on a cluster of somebody's
	config, err := e2e.FromEnv()
	g.Expect(err).NotTo(HaveOccurred())
	plan, err := e2e.Prepare(ctx, config, providers.Named("kwok"), func(step string) { t.Log(step) })
	g.Expect(err).NotTo(HaveOccurred())
	s, err := plan.Start(ctx, "recorded-"+rand.String(4), filepath.Join(t.TempDir(), "logs"))
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { g.Expect(s.Close(context.WithoutCancel(ctx))).To(Succeed()) })
	folder := t.TempDir()
	c, err := record.Connect(record.Options{Kubeconfig: s.Cluster.Kubeconfig(), Folder: folder, Redact: true})
	g.Expect(err).NotTo(HaveOccurred())
	recording, err := c.Record(ctx)
	g.Expect(err).NotTo(HaveOccurred())

	pool := fixtures.NodePool()
	app := fixtures.Deployment(2).On(pool)
	outcome, _ := s.Run(ctx, session.Work{
		Within: time.Minute, Recording: filepath.Join(t.TempDir(), "own.jsonl"),
		Run: func(ctx context.Context, env *e2e.Env) {
			env.Create(ctx, pool, app)
			env.Await(ctx, 2, check.RunningPods(app))
			before := env.Mark()
			env.Change(ctx, pool.NewTemplate())
			env.Await(ctx, 1, check.ReplacedNodes(pool, before))
			env.Expect(env.Since(before), check.Always(check.AtMost(1, check.DisruptedNodes(pool))))
		},
	})
	g.Expect(outcome.Verdict).To(Equal(report.Passed), outcome.Reason+"\n"+outcome.Detail)
	own, err := history.LoadFile(outcome.History)
	g.Expect(err).NotTo(HaveOccurred())
	g.Eventually(func() ([]string, error) {
		recorded, err := history.LoadFile(folder)
		return states(recorded), err
	}, "10s", "200ms").Should(ContainElements(states(own)))
	g.Expect(recording.Stop()).To(Succeed())

	redacted, err := history.LoadFile(folder)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(redacted.Gaps()).To(BeEmpty())
	for _, name := range []string{pool.GetName(), app.GetName()} {
		g.Expect(text(own)).To(ContainSubstring(name))
		g.Expect(text(redacted)).NotTo(ContainSubstring(name))
	}
	t.Logf("%d states of objects, %d in the spec's own recording", len(states(redacted)), len(states(own)))
}

// states returns the kind, UID and version of each state of an object.
func states(h *history.History) (all []string) {
	if h == nil {
		return nil
	}
	for _, e := range h.Events() {
		all = append(all, fmt.Sprintf("%s %s@%s", e.Resource.Resource, e.Object.UID, e.Object.ResourceVersion))
	}
	return all
}

// text returns all objects.
func text(h *history.History) string {
	var all strings.Builder
	for _, e := range h.Events() {
		all.Write(e.Object.Raw())
	}
	return all.String()
}
