// Package browser tests the pages that runs write, in a real browser: Chromium or Chrome, headless.
//
// It is a module of its own, so that nobody who imports the suites needs a browser's driver.
package browser

import (
	"context"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	. "github.com/onsi/gomega"
)

// open opens a page in a browser of its own, as wide as a laptop's screen, and waits for an element.
func open(t testing.TB, file string, ready chromedp.CSS) context.Context {
	t.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.WindowSize(1400, 900))
	if os.Geteuid() == 0 { // as in containers, where Chromium's sandbox doesn't start
		options = append(options, chromedp.NoSandbox)
	}
	life := context.WithoutCancel(t.Context()) // which ends before the browser can be closed
	browser, end := chromedp.NewExecAllocator(life, options...)
	t.Cleanup(end)
	tab, closeTab := chromedp.NewContext(browser)
	t.Cleanup(closeTab)
	t.Cleanup(func() { // closed otherwise, it leaves folders behind
		ctx, stop := context.WithTimeout(tab, 10*time.Second)
		defer stop()
		if err := chromedp.Cancel(ctx); err != nil {
			t.Errorf("closing the browser: %v", err)
		}
	})
	address := url.URL{Scheme: "file", Path: file}
	run(t, tab, chromedp.Navigate(address.String()), chromedp.WaitVisible(ready))
	return tab
}

func run(t testing.TB, tab context.Context, steps ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	if err := chromedp.Do(tab, steps...); err != nil {
		t.Fatalf("%v\nThe tests of pages need Chromium or Chrome.", err)
	}
}

// value returns what a script yields in a page.
func value[T any](t testing.TB, tab context.Context, script string) T {
	t.Helper()
	v, err := chromedp.Run(tab, chromedp.Evaluate[T](script))
	if err != nil {
		t.Fatalf("%s: %v", script, err)
	}
	return v
}

// screenshot writes what a tab shows into the folder of SCREENSHOTS, if that is set.
func screenshot(t testing.TB, tab context.Context, name string) {
	t.Helper()
	folder := os.Getenv("SCREENSHOTS")
	if folder == "" {
		return
	}
	g := NewWithT(t)
	png, err := chromedp.Run(tab, chromedp.CaptureScreenshot())
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(os.MkdirAll(folder, 0o755)).To(Succeed())
	g.Expect(os.WriteFile(filepath.Join(folder, name+".png"), png, 0o600)).To(Succeed())
}

// dark makes a tab prefer a dark scheme.
func dark(t testing.TB, tab context.Context) {
	t.Helper()
	_, err := chromedp.Call(tab, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}},
	})
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
}
