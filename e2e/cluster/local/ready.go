package local

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"

	"github.com/plumbline-e2e/plumbline/e2e/cluster/local/process"
)

const (
	// readyWithin is the limit for a busy machine; three seconds are usual.
	readyWithin = 2 * time.Minute
	readyPoll   = 25 * time.Millisecond
	// answerWithin bounds one check, so that a component that accepts connections but never
	// answers doesn't delay the report of a death.
	answerWithin = time.Second
	// restarts is how often a component may end because the API server isn't ready.
	restarts = 5
)

// starting is a cluster whose components were started and may not work yet.
type starting struct {
	*kwokctl
	access  *rest.Config
	taken   map[string]int
	version string

	server  *http.Client // for the API server, as administrator
	health  *http.Client // for the other components
	serves  bool         // whether the API server has been ready
	retried map[string]int
}

// probe is a condition that a cluster must meet before it is used.
type probe struct {
	component string
	holds     func(context.Context) error
}

func (p probe) check(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	return p.holds(ctx)
}

// ready waits until every component works, and returns their processes.
func (s *starting) ready(ctx context.Context) (map[string]process.Process, error) {
	if err := s.clients(); err != nil {
		return nil, err
	}
	probes := s.probes()
	var last error // error of the first failing probe
	err := wait.PollUntilContextTimeout(ctx, readyPoll, readyWithin, true, func(ctx context.Context) (bool, error) {
		if err := s.restartFailed(ctx); err != nil {
			return false, err
		}
		for len(probes) > 0 {
			if last = probes[0].check(ctx); last != nil {
				return false, nil //nolint:nilerr // it's asked again; the last answer is told if time runs out
			}
			s.serves = s.serves || probes[0].component == apiserver
			probes = probes[1:]
		}
		return true, nil
	})
	if err != nil && ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if wait.Interrupted(err) {
		slow := probes[0].component
		return nil, fmt.Errorf("%s does not work after %s: %w\n%s", slow, readyWithin, last, s.lastLines(slow))
	}
	if err == nil {
		err = s.isVersion(ctx)
	}
	if err != nil {
		return nil, err
	}
	return s.processes()
}

// probes lists the checks in order: the later need the earlier.
func (s *starting) probes() []probe {
	healthy := func(component string) probe {
		return probe{component, func(ctx context.Context) error {
			_, err := httpGet(ctx, s.health, healthURL(component, s.taken))
			return err
		}}
	}
	return []probe{
		{apiserver, func(ctx context.Context) error {
			_, err := httpGet(ctx, s.server, s.access.Host+"/readyz")
			return err
		}},
		healthy(controllerManager), healthy(scheduler), healthy(kwokController),
		// The controller manager makes it. Without it, no pod can be created.
		{controllerManager, func(ctx context.Context) error {
			_, err := httpGet(ctx, s.server, s.access.Host+"/api/v1/namespaces/default/serviceaccounts/default")
			return err
		}},
	}
}

func (s *starting) isVersion(ctx context.Context) error {
	body, err := httpGet(ctx, s.server, s.access.Host+"/version")
	if err != nil {
		return err
	}
	var is struct{ GitVersion string }
	if err := json.Unmarshal(body, &is); err != nil {
		return fmt.Errorf("version of the API server: %w", err)
	}
	if is.GitVersion != s.version {
		return fmt.Errorf("the API server says that it is %s, not %s", is.GitVersion, s.version)
	}
	return nil
}

func (s *starting) clients() error {
	server, err := rest.HTTPClientFor(s.access)
	if err != nil {
		return fmt.Errorf("the administrator's access: %w", err)
	}
	s.server, s.health = server, healthClient()
	return nil
}

// restartFailed restarts components that gave up waiting for the API server. The controller
// manager waits ten seconds, which may be too short on a busy machine. If another component
// dies, or any at a later time, that is an error.
func (s *starting) restartFailed(ctx context.Context) error {
	_, err := s.processes()
	var d *startFailure
	if !errors.As(err, &d) {
		return err
	}
	needsServer := d.component != etcd && d.component != apiserver
	if s.serves || !needsServer || s.retried[d.component] >= restarts || d.port != 0 {
		return d
	}
	s.retried[d.component]++
	return s.restart(ctx, d.component)
}

// processes returns the components' processes, or [startFailure].
func (s *starting) processes() (map[string]process.Process, error) {
	found := map[string]process.Process{}
	for _, name := range components() {
		p, err := s.process(name)
		if errors.Is(err, process.ErrNone) {
			return nil, s.diagnose(name)
		}
		if err != nil {
			return nil, err
		}
		found[name] = p
	}
	return found, nil
}

// startFailure is a component that ended before the cluster was ready.
type startFailure struct {
	component string
	port      int    // that another process had, if that was the reason
	lines     string // the end of its log
}

func (d *startFailure) Error() string {
	if d.port != 0 {
		return fmt.Sprintf("%s can't listen on port %d, which another process took in the meantime: "+
			"start again, another port will be used\n%s", d.component, d.port, d.lines)
	}
	return fmt.Sprintf("%s died while it was starting. Its last lines:\n%s", d.component, d.lines)
}

// inUse matches the port that a component couldn't listen on.
var inUse = regexp.MustCompile(`:(\d+): bind: address already in use`)

// diagnose finds in the log why a component died.
func (s *starting) diagnose(component string) *startFailure {
	d := &startFailure{component: component, lines: s.lastLines(component)}
	if m := inUse.FindStringSubmatch(d.lines); m != nil {
		d.port, _ = strconv.Atoi(m[1]) // digits
	}
	return d
}

func (s *starting) lastLines(component string) string {
	return strings.Join(lastLines(s.logFile(component), tailLines), "\n")
}

// httpGet returns the body of a response with status 200.
func httpGet(ctx context.Context, client *http.Client, url string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	resp, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", url, err)
	}
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %s: %s", url, resp.Status, strings.TrimSpace(string(body)))
	}
	return body, nil
}
