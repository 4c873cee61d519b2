package clock_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e/build"
	"github.com/plumbline-e2e/plumbline/e2e/clock"
)

func TestX(t *testing.T) {
	b, err := build.Open(func(s string) { t.Log(s) })
	if err != nil {
		t.Fatal(err)
	}
	bend, err := clock.Bend(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	c, err := clock.New(t.Context(), bend)
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range []float64{1, 10, 60} {
		c.Govern(k, true)
		r, n := c.Real(), time.Now()
		time.Sleep(time.Duration(k * float64(200*time.Millisecond)))
		fmt.Println(k, time.Since(n), c.Real()-r, c.Lag())
	}
	c.Govern(60, false)
	r, n := c.Real(), time.Now()
	time.Sleep(2 * time.Minute)
	fmt.Println("auto", time.Since(n), c.Real()-r, c.Lag(), c.Speed())
	c.Close()
}
