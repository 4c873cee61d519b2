package browser

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	. "github.com/onsi/gomega"

	"github.com/plumbline-e2e/plumbline/e2e/report"
	"github.com/plumbline-e2e/plumbline/e2e/report/page"
)

const visibleSpecs = `[...document.querySelectorAll('.spec:not([hidden]) summary code')].map(e => e.textContent)`

func TestTheReportIsSearchedAndWalked(t *testing.T) {
	g := NewWithT(t)
	tab := open(t, reportFile(t), "#failures")
	screenshot(t, tab, "report-light")

	run(t, tab, chromedp.KeyEvent("/"))
	g.Expect(value[string](t, tab, `document.activeElement.id`)).To(Equal("search"))
	run(t, tab, chromedp.KeyEvent(kb.Backspace), // the driver types the slash all the same
		chromedp.KeyEvent("drift/1 number"))
	g.Expect(value[[]string](t, tab, visibleSpecs)).To(Equal([]string{"drift/1"}))
	g.Expect(value[string](t, tab, `document.getElementById('found').value`)).To(Equal("1 of 9 specs"))
	g.Expect(value[bool](t, tab, `[...document.querySelectorAll('.suite')].find(s => !s.hidden).open`)).To(BeTrue())

	run(t, tab, chromedp.KeyEvent(kb.Escape), chromedp.Click(chromedp.CSS(".chip.failed")))
	g.Expect(value[[]string](t, tab, visibleSpecs)).To(Equal([]string{"drift/0", "taints/0"}))

	focused := `document.activeElement.querySelector('code')?.textContent ?? ''`
	run(t, tab, chromedp.KeyEvent("n"))
	g.Expect(value[string](t, tab, focused)).To(Equal("drift/0"))
	run(t, tab, chromedp.KeyEvent("n"))
	g.Expect(value[string](t, tab, focused)).To(Equal("taints/0"))
	run(t, tab, chromedp.KeyEvent("p"))
	g.Expect(value[string](t, tab, focused)).To(Equal("drift/0"))

	run(t, tab, chromedp.KeyEvent(kb.Escape), chromedp.Evaluate[chromedp.Void](`location.hash = '#spec-budgets-2'`),
		chromedp.WaitVisible(chromedp.CSS("#spec-budgets-2 .claims")))
	dark(t, tab)
	g.Expect(value[string](t, tab, `getComputedStyle(document.body).backgroundColor`)).To(Equal("rgb(13, 17, 23)"))
	screenshot(t, tab, "report-dark")
}

func TestTheReportFitsAPhone(t *testing.T) {
	g := NewWithT(t)
	tab := open(t, reportFile(t), "#failures")
	run(t, tab, chromedp.EmulateViewport(390, 844, chromedp.EmulateMobile))
	g.Expect(value[float64](t, tab, `document.documentElement.scrollWidth`)).To(BeNumerically("<=", 390), "nothing sticks out")
	screenshot(t, tab, "report-phone")
}

// reportFile writes the report of a run with nine specs, two of which failed.
func reportFile(t *testing.T) string {
	t.Helper()
	run := page.Run{Name: "20261124-1", Ended: true, Conformance: report.Conformance{
		Provider: "kwok", Version: "v1.15.0", Took: "5s",
		Clusters: []report.Cluster{{Backend: "local", Kubernetes: "v1.36.3", Karpenter: "v1.15.0", Speed: "auto"}},
	}}
	for _, suite := range []string{"budgets", "drift", "taints"} {
		for n := range 3 {
			o := report.Outcome{
				ID: fmt.Sprintf("%s/%d", suite, n), Suite: suite, Spec: fmt.Sprintf("keeps promise number %d", n),
				Verdict: report.Passed, Took: time.Minute, Real: 3 * time.Second,
				Claims: []report.Judged{{Check: "always one node of pool a", Verdict: "holds", Tested: 4}},
			}
			if n == 0 && suite != "budgets" {
				o.Verdict, o.Reason = report.Failed, "always one node of pool a: broken"
				o.Detail = "at +5.1s, event 43: MODIFIED Node a-very-long-name-that-has-to-wrap-on-a-small-screen-1234567890"
				o.Rerun = "make e2e GATES=StaticCapacity=true FOCUS=^" + o.ID + "$"
			}
			run.Outcomes = append(run.Outcomes, o)
		}
	}
	file := filepath.Join(t.TempDir(), "index.html")
	out, err := os.Create(file)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	NewWithT(t).Expect(run.Write(out)).To(Succeed())
	NewWithT(t).Expect(out.Close()).To(Succeed())
	return file
}
