//go:build linux && (amd64 || arm64)

package governor

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/plumbline-e2e/plumbline/e2e/clock/ptrace"
	"github.com/plumbline-e2e/plumbline/e2e/clock/shm"
)

// TestMain makes this program also the one that tests start.
func TestMain(m *testing.M) {
	switch os.Args[len(os.Args)-1] {
	case "talk":
		talk()
	case "sleep":
		for d := 100 * time.Millisecond; ; d += 10 * time.Millisecond {
			time.Sleep(d)
		}
	}
	os.Exit(m.Run())
}

// Processes wake each other on a busy machine, so each step of a jump finds some that are
// about to begin a wait. None may be late for a wait that began after the step, or see the
// clock move while it works.
func TestNobodyIsLateForAJumpOnABusyMachine(t *testing.T) {
	g := NewWithT(t)
	p := newPage(t, 50*time.Millisecond)
	stop := make(chan struct{})
	defer close(stop)
	for range 2 * runtime.NumCPU() {
		go func() {
			for busy := true; busy; {
				select {
				case <-stop:
					busy = false
				default: // spins on purpose
				}
			}
		}()
	}
	complaints := filepath.Join(t.TempDir(), "complaints")
	startTalkers(t, p, 16, complaints)
	p.Request(60, false)
	const jump = 12 * time.Hour
	for range 100 {
		p.Jump(jump, jump)
		for left := jump; left > 0; left, _ = p.JumpLeft() {
			shm.Sleep(time.Millisecond)
		}
		late, _ := p.TakeLag()
		g.Expect(late).To(BeNumerically("<", jump/2))
	}
	g.Expect(os.ReadFile(complaints)).To(BeEmpty())
}

// startTalkers starts talk programs on the page's clock. They write complaints to a file.
func startTalkers(t *testing.T, p *shm.Page, n int, complaints string) {
	t.Helper()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	file, err := os.Create(complaints)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	var talkers []io.Writer
	var addresses []string
	for range n {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "talk")
		in, err := cmd.StdinPipe()
		out, err2 := cmd.StdoutPipe()
		cmd.Stderr = file
		unbent, err3 := ptrace.Start(cmd, p, 0)
		if err := errors.Join(err, err2, err3, unbent); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = cmd.Wait() })
		address, err := bufio.NewReader(out).ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		talkers, addresses = append(talkers, in), append(addresses, strings.TrimSpace(address))
	}
	_, _ = fmt.Fprintln(io.MultiWriter(talkers...), strings.Join(addresses, " "))
}

// talk greets the others every one to three seconds, and works when it is greeted.
func talk() {
	socket, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		panic(err)
	}
	_, _ = fmt.Fprintln(os.Stdout, socket.LocalAddr())
	line, _ := bufio.NewReader(os.Stdin).ReadString('\n')
	go func() {
		for {
			time.Sleep(time.Second + time.Duration(rand.Int64N(int64(2*time.Second))))
			for address := range strings.FieldsSeq(line) {
				other, err := net.ResolveUDPAddr("udp", address)
				if err == nil {
					_, err = socket.WriteTo([]byte("hello"), other)
				}
				if err != nil {
					panic(err)
				}
			}
		}
	}()
	for {
		if _, _, err := socket.ReadFrom(make([]byte, 8)); err != nil {
			panic(err)
		}
		began, sum := time.Now(), 0
		for i := range 10_000 {
			sum += sum ^ i
		}
		if took := time.Since(began); took > time.Hour {
			fmt.Fprintf(os.Stderr, "the clock was moved by %s while this worked on %d\n", took, sum)
		}
	}
}
