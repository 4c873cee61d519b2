//go:build e2e

package session_test

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/util/rand"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/report"
	"github.com/plumbline-e2e/plumbline/e2e/session"
	"github.com/plumbline-e2e/plumbline/fixtures"
	"github.com/plumbline-e2e/plumbline/providers"
)

// If a component hangs during a spec, the spec says nothing about the provider, even if it
// ends before the component counts as hanging.
func TestASpecDuringWhichTheAPIServerHangs(t *testing.T) {
	for _, within := range []time.Duration{2 * time.Minute, 3 * time.Second} {
		t.Run(within.String(), func(t *testing.T) {
			g, ctx := NewWithT(t), t.Context()
			config, err := e2e.FromEnv()
			g.Expect(err).NotTo(HaveOccurred())
			var mu sync.Mutex
			var steps []string
			plan, err := e2e.Prepare(ctx, config, providers.Named("kwok"), func(step string) {
				mu.Lock()
				defer mu.Unlock()
				steps = append(steps, step)
			})
			g.Expect(err).NotTo(HaveOccurred())
			s, err := plan.Start(ctx, "hangs-"+rand.String(4), filepath.Join(t.TempDir(), "logs"))
			g.Expect(err).NotTo(HaveOccurred())
			t.Cleanup(func() { g.Expect(s.Close(context.WithoutCancel(ctx))).To(Succeed()) })

			work := session.Work{
				Within: within, Recording: filepath.Join(t.TempDir(), "hangs.jsonl"),
				Run: func(ctx context.Context, env *e2e.Env) {
					pool := fixtures.NodePool()
					app := fixtures.Deployment(1).On(pool)
					env.Create(ctx, pool, app)
					stopAPIServer(g, s.Cluster.Kubeconfig())
					env.Await(ctx, 2, check.RunningPods(app))
				},
			}
			began := time.Now()
			outcome, clean := s.Run(ctx, work)
			t.Logf("%s after %s: %s\n%s", outcome.Verdict, time.Since(began), outcome.Reason, outcome.Detail)
			g.Expect(outcome.Verdict).To(Equal(report.Infra))
			g.Expect(outcome.Reason).To(Equal("kube-apiserver has not answered for 7 s"))
			g.Expect(clean).To(BeFalse(), "nothing else can run there")
			mu.Lock()
			defer mu.Unlock()
			g.Expect(steps).To(ContainElement("kube-apiserver has not answered for 4 s"), "it is said while it lasts")
		})
	}
}

func stopAPIServer(g Gomega, kubeconfig string) {
	state := filepath.Join(filepath.Dir(kubeconfig), "kwok", "clusters", "*")
	files, err := filepath.Glob(filepath.Join(state, "pids", "kube-apiserver.pid"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(files).To(HaveLen(1))
	content, err := os.ReadFile(files[0])
	g.Expect(err).NotTo(HaveOccurred())
	pid, err := strconv.Atoi(strings.TrimSpace(string(content)))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(syscall.Kill(pid, syscall.SIGSTOP)).To(Succeed())
}
