package report

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	. "github.com/onsi/gomega"
)

func TestMessagesOfSeveralWritersArriveWhole(t *testing.T) {
	g := NewWithT(t)
	path := filepath.Join(t.TempDir(), "progress.jsonl")
	const writers, each = 4, 200
	var wg sync.WaitGroup
	for w := range writers {
		p, err := OpenProgress(path)
		g.Expect(err).NotTo(HaveOccurred())
		wg.Go(func() {
			defer p.Close()
			for i := range each {
				if err := p.Send(Message{Step: fmt.Sprintf("%d %d", w, i)}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	file, err := os.Open(path)
	g.Expect(err).NotTo(HaveOccurred())
	defer file.Close()
	follower := Follow(file)
	var got []Message
	g.Eventually(func() int {
		news, err := follower.Next()
		g.Expect(err).NotTo(HaveOccurred())
		got = append(got, news...)
		return len(got)
	}).Should(Equal(writers * each))
	wg.Wait()
}

func TestFollowerWaitsForTheEndOfALine(t *testing.T) {
	g := NewWithT(t)
	path := filepath.Join(t.TempDir(), "progress.jsonl")
	w, err := os.Create(path)
	g.Expect(err).NotTo(HaveOccurred())
	defer w.Close()
	r, err := os.Open(path)
	g.Expect(err).NotTo(HaveOccurred())
	defer r.Close()
	follower := Follow(r)

	_, err = w.WriteString(`{"step":"ha`)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(follower.Next()).To(BeEmpty())
	_, err = w.WriteString("lf\"}\n")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(follower.Next()).To(Equal([]Message{{Step: "half"}}))
}
