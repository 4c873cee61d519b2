// Package mutant switches the mistakes that the generator has put into a program. The generator
// copies it into the program's module. Each mistake, a mutant, is a call of one of its functions
// with the mutant's number.
//
// The variable MUTANT names the number of the mutant that is on; without it the program is as it
// was. With MUTANT_COVERAGE=1 the program logs each second which mutants would have made a
// difference, on a line such as "mutants 1795486048123 7 12": the time in milliseconds, and their
// numbers.
package mutant

import (
	"cmp"
	"fmt"
	"os"
	"reflect"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// active is the number of the mutant that is on; 0: none.
var active, _ = strconv.Atoi(os.Getenv("MUTANT")) //nolint:gochecknoglobals // all the program's code asks for it

// reached marks the mutants that made a difference since the last line; nil: nobody asks.
var reached = logReached() //nolint:gochecknoglobals // as above

// Total is how many mutants there are; the generator sets it.
const Total = 0

// logReached logs what is reached, if somebody asks.
func logReached() []atomic.Bool {
	if os.Getenv("MUTANT_COVERAGE") == "" {
		return nil
	}
	reached := make([]atomic.Bool, Total+1)
	go func() {
		for now := range time.Tick(time.Second) {
			line := strings.Builder{}
			for id := range reached {
				if reached[id].Swap(false) {
					fmt.Fprintf(&line, " %d", id)
				}
			}
			if line.Len() > 0 {
				fmt.Fprintf(os.Stderr, "mutants %d%s\n", now.UnixMilli(), line.String())
			}
		}
	}()
	return reached
}

// On reports whether the mutant is on. It counts as a difference.
func On(id int) bool {
	if reached != nil {
		reached[id].Store(true)
	}
	return id == active
}

// Not negates a condition.
func Not(id int, c bool) bool { return c != On(id) }

// True makes a condition true.
func True(id int, c bool) bool { return c || On(id) }

// False makes a condition false.
func False(id int, c bool) bool { return c && !On(id) }

// Error swallows an error.
func Error(id int, err error) error {
	if err != nil && On(id) {
		return nil
	}
	return err
}

// Pick returns the second value in place of the first.
func Pick[T any](id int, right, wrong T) T {
	if id == active {
		return wrong
	}
	if reached != nil && !reached[id].Load() && differ(right, wrong) {
		reached[id].Store(true)
	}
	return right
}

// differ reports whether it matters which of two values is used. Two pointers differ also if they
// point to the same: what is done to one isn't done to the other.
func differ(a, b any) bool {
	if reflect.ValueOf(a).Kind() == reflect.Pointer {
		return a != b
	}
	return !reflect.DeepEqual(a, b)
}

// First is all elements of a slice, or the first one.
func First[S ~[]E, E any](id int, all S) S {
	if len(all) > 1 && On(id) {
		return all[:1]
	}
	return all
}

// Any is all entries of a map, or one of them.
func Any[M ~map[K]V, K comparable, V any](id int, all M) M {
	if len(all) > 1 && On(id) {
		for key, value := range all {
			return M{key: value}
		}
	}
	return all
}

// Less is a < b, or a <= b.
func Less[T cmp.Ordered](id int, a, b T) bool { return a < b || a == b && On(id) }

// LessEqual is a <= b, or a < b.
func LessEqual[T cmp.Ordered](id int, a, b T) bool { return a < b || a == b && !On(id) }

// Greater is a > b, or a >= b.
func Greater[T cmp.Ordered](id int, a, b T) bool { return a > b || a == b && On(id) }

// GreaterEqual is a >= b, or a > b.
func GreaterEqual[T cmp.Ordered](id int, a, b T) bool { return a > b || a == b && !On(id) }

type number interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~float32 | ~float64
}

// Add is a + b, or a - b.
func Add[T number](id int, a, b T) T { return Pick(id, a+b, a-b) }

// Subtract is a - b, or a + b.
func Subtract[T number](id int, a, b T) T { return Pick(id, a-b, a+b) }
