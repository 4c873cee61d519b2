package faults_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"

	"github.com/plumbline-e2e/plumbline/e2e/faults"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

func TestFaultsTravelAsJSON(t *testing.T) {
	for _, f := range []faults.Fault{
		faults.CrashAfter(faults.On("create", karpenter.NodeClaims).Nth(3)),
		faults.LoseAnswer(faults.On("patch", karpenter.NodeClaims).Status().Setting("providerID")).Times(2),
		faults.Refuse(faults.Writes(karpenter.Nodes).Named("n"), apierrors.NewTooManyRequests("slow down", 1)).Always(),
		faults.HoldEvents(karpenter.Pods, time.Minute),
		faults.LoseLease(20 * time.Second),
		faults.Freeze(time.Second),
	} {
		g := NewWithT(t)
		data, err := json.Marshal(f)
		g.Expect(err).NotTo(HaveOccurred())
		var got faults.Fault
		g.Expect(json.Unmarshal(data, &got)).To(Succeed())
		g.Expect(got).To(Equal(f), string(data))
	}
	var f faults.Fault
	NewWithT(t).Expect(json.Unmarshal([]byte(`[]`), &f)).NotTo(Succeed())
}

// inPod returns a server as in a pod, between its clients and an API server that counts its requests.
func inPod(t *testing.T) (url string, asked *atomic.Int64) {
	t.Helper()
	asked = &atomic.Int64{}
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		_, _ = io.WriteString(w, r.URL.Path)
	}))
	t.Cleanup(api.Close)
	proxy, err := faults.New(t.Context(), &rest.Config{Host: api.URL})
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	mux := http.NewServeMux()
	mux.Handle("/", proxy)
	controls := proxy.Controls()
	mux.Handle(faults.Control, controls)
	mux.Handle(faults.Control+"/", controls)
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	t.Cleanup(func() { _ = proxy.Close() })
	return server.URL, asked
}

// remote asks a server.
func remote(url string) faults.Remote {
	return func(ctx context.Context, method, path, body string) ([]byte, error) {
		status, text, err := send(ctx, method, url+path, body)
		if err == nil && status != http.StatusOK {
			err = errors.New(text)
		}
		return []byte(text), err
	}
}

func send(ctx context.Context, method, url, body string) (status int, text string, err error) {
	r, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, "", err
	}
	defer answer.Body.Close() //nolint:errcheck // it is read
	data, err := io.ReadAll(answer.Body)
	return answer.StatusCode, strings.TrimSpace(string(data)), err
}

const claims = "/apis/karpenter.sh/v1/nodeclaims"

func TestARemoteProxyPassesOnAndCounts(t *testing.T) {
	g := NewWithT(t)
	url, _ := inPod(t)
	_, text, err := send(t.Context(), http.MethodPost, url+claims, "{}")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(text).To(Equal(claims))
	g.Expect(remote(url).Writes(t.Context())).To(Equal(map[string]int{"create nodeclaims.karpenter.sh": 1}))
}

func TestARemoteProxyWaitsUntilTheControllerIsDead(t *testing.T) {
	g := NewWithT(t)
	url, asked := inPod(t)
	killed := make(chan string, 1)
	var whenKilled int64
	a, err := remote(url).Begin(t.Context(), faults.CrashAfter(faults.On("create", karpenter.NodeClaims).Nth(2)),
		func(_ context.Context, r faults.Request) error {
			whenKilled = asked.Load()
			killed <- r.Kind()
			return nil
		})
	g.Expect(err).NotTo(HaveOccurred())
	_, _, err = send(t.Context(), http.MethodPost, url+claims, "{}")
	g.Expect(err).NotTo(HaveOccurred(), "the first is not meant")
	g.Expect(a.Struck()).To(BeZero())
	_, _, err = send(t.Context(), http.MethodPost, url+claims, "{}")
	g.Expect(err).To(HaveOccurred(), "the answer is lost")
	g.Expect(killed).To(Receive(Equal("create nodeclaims.karpenter.sh")), "the connection ended only then")
	g.Expect(whenKilled).To(BeEquivalentTo(2), "the request was done before")
	g.Expect(a.Await(t.Context())).To(Succeed())
	g.Expect(a.Struck()).To(Equal(1))
	a.End()
}

// A controller that is to be killed must not end itself before, because it can't renew its lease.
func TestLeasesAreRenewedWhileTheControllerIsKilled(t *testing.T) {
	g := NewWithT(t)
	url, _ := inPod(t)
	ask := func(ctx context.Context, path string) error {
		ctx, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		_, _, err := send(ctx, http.MethodPut, url+path, "{}")
		return err
	}
	a, err := remote(url).Begin(t.Context(), faults.CrashBefore(faults.On("create", karpenter.NodeClaims)),
		func(ctx context.Context, _ faults.Request) error {
			g.Expect(ask(ctx, claims+"/one")).To(MatchError(context.DeadlineExceeded))
			return ask(ctx, "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/karpenter")
		})
	g.Expect(err).NotTo(HaveOccurred())
	_, _, err = send(t.Context(), http.MethodPost, url+claims, "{}")
	g.Expect(err).To(HaveOccurred(), "it is not answered")
	g.Expect(a.Await(t.Context())).To(Succeed())
	a.End()
}

func TestARemoteProxysFaultsEnd(t *testing.T) {
	g := NewWithT(t)
	url, _ := inPod(t)
	refusal := faults.Refuse(faults.Writes(karpenter.NodeClaims), apierrors.NewTooManyRequests("slow down", 1)).Always()
	a, err := remote(url).Begin(t.Context(), refusal, func(context.Context, faults.Request) error { return nil })
	g.Expect(err).NotTo(HaveOccurred())
	status, _, err := send(t.Context(), http.MethodPost, url+claims, "{}")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(status).To(Equal(http.StatusTooManyRequests))
	a.End()
	g.Expect(a.Struck()).To(Equal(1), "a strike right before the end is seen")
	status, _, err = send(t.Context(), http.MethodPost, url+claims, "{}")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(status).To(Equal(http.StatusOK))
}

func TestARemoteProxyRefusesWhatCanNotBe(t *testing.T) {
	g := NewWithT(t)
	url, _ := inPod(t)
	_, err := remote(url).Begin(t.Context(), faults.Freeze(0), nil)
	g.Expect(err).To(MatchError(ContainSubstring("a duration above 0 is needed")))
	for path, wrong := range map[string]string{
		"": "unexpected EOF", "/7/release": "there is no fault 7", "/x/release": "there is no fault x",
	} {
		_, err := remote(url)(t.Context(), http.MethodPost, faults.Control+path, "{")
		g.Expect(err).To(MatchError(ContainSubstring(wrong)), path)
	}
	_, err = remote(url)(t.Context(), http.MethodPost, faults.Control, `{"kind": "delayed:"}`)
	g.Expect(err).To(MatchError(ContainSubstring("a duration above 0 is needed")), "it is checked there too")
	gone := faults.Remote(func(context.Context, string, string, string) ([]byte, error) { return nil, errors.New("gone") })
	_, err = gone.Begin(t.Context(), faults.Freeze(time.Second), nil)
	g.Expect(err).To(MatchError("the API server doesn't answer for 1s: gone"))
	_, err = gone.Writes(t.Context())
	g.Expect(err).To(MatchError("gone"))
	odd := faults.Remote(func(context.Context, string, string, string) ([]byte, error) { return []byte("x"), nil })
	_, err = odd.Begin(t.Context(), faults.Freeze(time.Second), nil)
	g.Expect(err).To(MatchError(ContainSubstring(fmt.Sprintf("the proxy has answered %q", "x"))))
}
