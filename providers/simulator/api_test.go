package simulator

import (
	"bytes"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	. "github.com/onsi/gomega"
)

// asked returns the status and the body of a call of an API's routes.
func asked(t *testing.T, handler http.Handler, call string) (int, string) {
	t.Helper()
	method, path, _ := strings.Cut(call, " ")
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), method, path, http.NoBody))
	return w.Code, strings.TrimSpace(w.Body.String())
}

// vms holds the calls of a small cloud. Each of them needs the lock.
func vms(lock *sync.Mutex) map[string]Call {
	locked := func(do Call) Call {
		return func(r *http.Request) (any, error) {
			if lock.TryLock() {
				return nil, errors.New("it is not locked")
			}
			return do(r)
		}
	}
	return map[string]Call{
		"GET /vms/{id}":    locked(func(r *http.Request) (any, error) { return r.PathValue("id"), nil }),
		"POST /vms":        locked(func(*http.Request) (any, error) { return nil, Errorf(409, "Conflict", "there") }),
		"DELETE /vms/{id}": locked(func(*http.Request) (any, error) { return nil, errors.New("out of order") }),
	}
}

func TestAnAPIAnswersAndCounts(t *testing.T) {
	g := NewWithT(t)
	var lock sync.Mutex
	b := NewBase(t.Context(), nil, Times{}, 1)
	api := (&API{Base: b, Lock: &lock}).Routes(vms(&lock))
	for call, want := range map[string]struct {
		status int
		body   string
	}{
		"GET /vms/7":    {200, `"7"`},
		"POST /vms":     {409, `{"error":{"code":"Conflict","message":"there"}}`},
		"DELETE /vms/7": {500, `{"error":{"message":"out of order"}}`},
		"PUT /vms/7": {
			501, `{"error":{"code":"NotImplemented","message":"the simulator does not know PUT /vms/7"}}`,
		},
	} {
		status, body := asked(t, api, call)
		g.Expect(status).To(Equal(want.status), call)
		g.Expect(body).To(Equal(want.body), call)
	}
	g.Expect(b.Journal.Report()).To(Equal(Report{
		Calls:   map[string]int{"GET /vms/{id}": 1, "POST /vms": 1, "DELETE /vms/{id}": 1, "PUT /vms/7": 1},
		Writes:  map[string]int{"POST /vms": 1, "DELETE /vms/{id}": 1, "PUT /vms/7": 1},
		Refused: map[string]int{"POST /vms Conflict": 1, "DELETE /vms/{id} out of order": 1, "PUT /vms/7 NotImplemented": 1},
		Unknown: map[string]int{"PUT /vms/7": 1}, Ignored: map[string]int{},
	}))
}

func TestAnAPILogsEachCall(t *testing.T) {
	g := NewWithT(t)
	var log bytes.Buffer
	was := slog.Default()
	t.Cleanup(func() { slog.SetDefault(was) })
	slog.SetDefault(slog.New(slog.NewJSONHandler(&log, nil)))
	var lock sync.Mutex
	b := NewBase(t.Context(), nil, Times{}, 1)
	api := (&API{Base: b, Lock: &lock}).Routes(vms(&lock))
	asked(t, api, "GET /vms/7")
	asked(t, api, "POST /vms")
	g.Expect(b.Faults.Add(Fault{Kind: Lost, Call: "GET /vms/{id}", Count: 1})).To(Succeed())
	g.Expect(func() { asked(t, api, "GET /vms/7") }).To(PanicWith(http.ErrAbortHandler))
	g.Expect(strings.Split(strings.TrimSpace(log.String()), "\n")).To(HaveExactElements(
		MatchRegexp(`^\{"time":"[^"]+","level":"INFO","msg":"GET /vms/\{id\}","status":200\}$`),
		HaveSuffix(`"level":"WARN","msg":"POST /vms","status":409,"code":"Conflict"}`),
		HaveSuffix(`"level":"WARN","msg":"GET /vms/{id}","answer":"none"}`),
		HaveSuffix(`"level":"INFO","msg":"GET /vms/{id}","status":200}`),
	), "the last one was carried out")
}

func TestFaultsOfAnAPI(t *testing.T) {
	g := NewWithT(t)
	var lock sync.Mutex
	b := NewBase(t.Context(), nil, Times{}, 1)
	api := &API{Base: b, Lock: &lock}
	for kind, want := range map[Kind]int{Throttle: 429, Denied: 403} {
		g.Expect(b.Faults.Add(Fault{Kind: kind, Call: "GET /vms/{id}", Count: 1})).To(Succeed())
		status, _ := asked(t, api.Routes(vms(&lock)), "GET /vms/7")
		g.Expect(status).To(Equal(want), "%s", kind)
	}
	g.Expect(b.Faults.Add(Fault{Kind: Throttle, Call: "GET /vm/{id}"})).
		To(MatchError(ContainSubstring("GET /vms/{id}, ")), "its calls are known")
	g.Expect(b.Faults.Add(Fault{Kind: Throttle})).To(Succeed())
	api.Refusals = map[Kind]*Error{Throttle: Errorf(503, "SlowDown", "please")}
	api.Write = func(w http.ResponseWriter, _ *http.Request, _ any, e *Error) { http.Error(w, e.Error(), e.Status) }
	status, body := asked(t, api.Routes(vms(&lock)), "GET /vms/7")
	g.Expect(status).To(Equal(503))
	g.Expect(body).To(Equal("SlowDown: please"), "in the cloud's own way")
}

func TestSparedCallsOfAnAPI(t *testing.T) {
	g := NewWithT(t)
	var lock sync.Mutex
	b := NewBase(t.Context(), nil, Times{}, 1)
	api := (&API{Base: b, Lock: &lock, Spared: []string{"GET /vms/{id}"}}).Routes(vms(&lock))
	g.Expect(b.Faults.Add(Fault{Kind: Throttle})).To(Succeed())
	for call, want := range map[string]int{"GET /vms/7": 200, "POST /vms": 429} {
		status, _ := asked(t, api, call)
		g.Expect(status).To(Equal(want), call)
	}
}
