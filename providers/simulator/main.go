package simulator

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"
)

// Command describes the command of a provider's simulator.
type Command struct {
	// About says in one sentence what is simulated, for --help.
	About string
	// Port is the port of the default of --listen, on 127.0.0.1.
	Port int
	// Times holds the defaults of --pending, --boot, --ending and --notice. A zero means 2 s, 3 s, 2 s and 3 s.
	Times Times
	// Flags adds the cloud's own flags. It is optional.
	Flags func(*flag.FlagSet)
	// New returns the cloud. It is called once, when the flags are parsed and the cluster is connected.
	New func(*Base) (Cloud, error)
}

// Base holds what every cloud is built on.
type Base struct {
	Context context.Context //nolint:containedctx // instances live as long as the simulator
	// Nodes is the cluster that instances join. With --alone it is the zero value.
	Nodes *Cluster
	// Times are those of the instances that are launched from now on.
	Times Times
	// Random is seeded by --seed and safe for concurrent use.
	Random  *rand.Rand
	Faults  *Faults
	Journal *Journal
}

// NewBase returns what Main prepares for a cloud: for tests. Without nodes, instances join nothing.
func NewBase(ctx context.Context, nodes *Cluster, t Times, seed uint64) *Base {
	if nodes == nil {
		nodes = &Cluster{}
	}
	random := rand.New(&source{pcg: rand.NewPCG(seed, 0)}) //nolint:gosec // nothing here is a secret
	return &Base{
		Context: ctx, Nodes: nodes, Times: t, Random: random, Faults: &Faults{random: random}, Journal: NewJournal(),
	}
}

// source is a source of random numbers that is safe for concurrent use.
type source struct {
	mu  sync.Mutex
	pcg *rand.PCG
}

// Uint64 returns the next number.
func (s *source) Uint64() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pcg.Uint64()
}

// Cloud is a provider's simulated cloud.
type Cloud struct {
	// Handler serves the cloud's own protocol, at every path but /_sim/.
	Handler http.Handler
	// Instances serves the hooks about instances. It is usually a [Fleet].
	Instances Instances
	// Launches names the calls that launch instances, as the journal names them. A fault of the call "launch" strikes
	// each of them.
	Launches []string
	// Hooks holds further hooks by pattern, such as "PUT /_sim/subnets". A hook of Main's with the same pattern is
	// replaced.
	Hooks map[string]Hook
	// Reset restores the initial state of everything but the instances. It is optional.
	Reset func()
}

// Main runs a simulator's command. It parses the command line, connects to the cluster, and serves the cloud and the
// harness's hooks at one address until SIGINT or SIGTERM. It ends the process: after a mistake, which it tells on
// stderr, with code 1.
func Main(c Command) {
	slog.SetDefault(slog.New(slog.NewJSONHandler(os.Stderr, nil))) // timelines show it, at its times
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, c, os.Args[1:], os.Stderr)
	stop()
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// options holds the command line that all simulators have.
type options struct {
	listen string
	seed   uint64
	times  Times
	alone  bool
}

// run runs a command with arguments until ctx ends. Its help goes to out.
func run(ctx context.Context, c Command, args []string, out io.Writer) error {
	o, err := parse(c, args, out)
	if err != nil {
		return err
	}
	var nodes *Cluster
	if !o.alone {
		if nodes, err = Connect(); err != nil {
			return err
		}
	}
	b := NewBase(ctx, nodes, o.times, o.seed)
	cloud, err := c.New(b)
	if err != nil {
		return err
	}
	err = Serve(ctx, o.listen, b.Handler(cloud))
	for _, call := range b.Journal.Unknown() {
		slog.Warn("call is not simulated", "call", call)
	}
	return err
}

// parse reads a command line. Its errors name all mistakes.
func parse(c Command, args []string, out io.Writer) (o options, err error) {
	flags := flag.NewFlagSet("simulator", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // Main tells errors
	flags.StringVar(&o.listen, "listen", fmt.Sprintf("127.0.0.1:%d", c.Port),
		"where to listen: on loopback, or on the pod's own address")
	flags.Uint64Var(&o.seed, "seed", 1, "seed of the random choices, such as which calls a fault strikes")
	flags.BoolVar(&o.alone, "alone", false, "run without a cluster: instances join nothing")
	phases := []struct {
		name, usage    string
		value          *time.Duration
		chosen, common time.Duration
	}{
		{"pending", "until an instance runs", &o.times.Pending, c.Times.Pending, 2 * time.Second},
		{"boot", "then, until its kubelet registers", &o.times.Boot, c.Times.Boot, 3 * time.Second},
		{"ending", "from the request to end until an instance is gone", &o.times.Ending, c.Times.Ending, 2 * time.Second},
		{"notice", "then, until its node is deleted", &o.times.Notice, c.Times.Notice, 3 * time.Second},
	}
	for _, p := range phases {
		flags.DurationVar(p.value, p.name, cmp.Or(p.chosen, p.common), p.usage)
	}
	if c.Flags != nil {
		c.Flags(flags)
	}
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			fmt.Fprintln(out, c.About)
			flags.SetOutput(out)
			flags.PrintDefaults()
		}
		return o, err
	}
	wrong := []error{checkAddress(o.listen)}
	for _, p := range phases {
		if *p.value < 0 {
			wrong = append(wrong, fmt.Errorf("--%s=%s: a time can't be negative", p.name, *p.value))
		}
	}
	if flags.NArg() > 0 {
		wrong = append(wrong, fmt.Errorf("arguments %q: there are only flags, see --help", flags.Args()))
	}
	return o, errors.Join(wrong...)
}
