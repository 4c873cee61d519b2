package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// program prints one line for each thing that a mutant may change.
const program = `package main

import "fmt"

type kind string

const (
	small kind = "small"
	large kind = "large"
)

type size struct{ width, height int }

func (s *size) area() int { return s.width * s.height }

func check(n int) error {
	if n > 2 && n != 5 {
		return errors()
	}
	return nil
}

func errors() error { return fmt.Errorf("no") }

func sum(all []int) (n int) {
	for _, x := range all {
		n += x
		continue
	}
	return n
}

func sub(a, b int) int { return a - b }

func main() {
	a, b := &size{2, 3}, &size{4, 5}
	x, y := 7, 3
	seen := []any{check(3), check(2), sum([]int{1, 2}), sub(x, y), a.area() + b.area(), kinds(small), limit(10)}
	fmt.Println(seen...)
	fmt.Println(entries(map[string]int{"a": 1, "b": 1}), turns(3))
}

func entries(all map[string]int) (n int) {
	for range all {
		n++
		continue
	}
	return n
}

func turns(most int) (n int) {
	for range most {
		n++
	}
	return n
}

func kinds(k kind) bool { return k == large }

func limit(n int) int {
	most := 0
	most = 10
	if n < most {
		return 1
	}
	return 2
}
`

func TestEachMutantDoesWhatItSays(t *testing.T) {
	source, out := t.TempDir(), filepath.Join(t.TempDir(), "out")
	for name, text := range map[string]string{"go.mod": "module example.com/p\n\ngo 1.26\n", "main.go": program} {
		if err := os.WriteFile(filepath.Join(source, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := run(options{source: source, out: out, packages: []string{"./..."}}); err != nil {
		t.Fatal(err)
	}
	files, err := load(source, []string{"./..."})
	if err != nil {
		t.Fatal(err)
	}
	all := files[0].mutate(0)
	binary := filepath.Join(t.TempDir(), "p")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", binary, ".")
	build.Dir = out
	if said, err := build.CombinedOutput(); err != nil {
		t.Fatalf("the mutated program doesn't build: %v\n%s", err, said)
	}
	prints := func(id int) (first, second string) {
		cmd := exec.CommandContext(t.Context(), binary)
		cmd.Env = append(os.Environ(), "MUTANT="+strconv.Itoa(id))
		said, _ := cmd.CombinedOutput() // a mutant may end it
		first, second, _ = strings.Cut(strings.TrimSpace(string(said)), "\n")
		return first, second
	}
	const honest = "no <nil> 3 4 26 false 2"
	const loops = "2 3"
	if first, second := prints(0); first != honest || second != loops {
		t.Fatalf("without a mutant it prints %q and %q", first, second)
	}
	want := map[string]string{
		"main.go:check:negate":     "<nil> no 3 4 26 false 2",
		"main.go:check:boundary":   "no no 3 4 26 false 2",
		"main.go:check:operand:2":  "no <nil> 3 4 26 false 2", // only 5 is refused: the same here
		"main.go:check:swallow":    "<nil> <nil> 3 4 26 false 2",
		"main.go:sum:first":        "no <nil> 1 4 26 false 2",
		"main.go:sum:drop":         "no <nil> 0 4 26 false 2",
		"main.go:sub:arithmetic":   "no <nil> 3 10 26 false 2",
		"main.go:main:swap":        "no <nil> 3 -4 26 false 2",
		"main.go:main:receiver":    "no <nil> 3 4 40 false 2",
		"main.go:main:arithmetic":  "no <nil> 3 4 -14 false 2",
		"main.go:*size.area:field": "no <nil> 3 4 34 false 2",
		"main.go:kinds:constant":   "no <nil> 3 4 26 true 2",
		"main.go:limit:boundary":   "no <nil> 3 4 26 false 1",
		"main.go:limit:drop":       "no <nil> 3 4 26 false 2",
		"main.go:limit:constant":   "no <nil> 3 4 26 false 2",
		"main.go:entries:first":    "1 3",
		"main.go:turns:first":      "2 1",
		"main.go:limit:constant:2": "no <nil> 3 4 26 false 1",
	}
	for _, m := range all {
		expected, is := want[m.Name]
		if !is {
			continue
		}
		delete(want, m.Name)
		first, second := prints(m.ID)
		got := first
		if first == honest && second != loops { // it is one of the second line
			got = second
		}
		if got != expected {
			t.Errorf("%s (%s -> %s) prints %q, want %q", m.Name, m.Before, m.After, got, expected)
		}
	}
	for name := range want {
		t.Errorf("there is no mutant %s", name)
	}
}

func TestWhatIsCoveredIsWrittenDown(t *testing.T) {
	text, err := switches.ReadFile("mutant/mutant.go")
	if err != nil || !strings.Contains(string(text), "const Total = 0\n") {
		t.Fatalf("the generator can't set the number of mutants: %v", err)
	}
}

func TestMistakesAreSaid(t *testing.T) {
	for _, o := range []options{{}, {source: filepath.Join(t.TempDir(), "none"), out: filepath.Join(t.TempDir(), "out")}} {
		if err := run(o); err == nil {
			t.Errorf("%+v is taken", o)
		}
	}
}
