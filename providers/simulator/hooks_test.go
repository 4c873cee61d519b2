package simulator

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"
)

// served returns a cloud's fleet and a function from "METHOD path" to a hook's status and body.
func served(t *testing.T, nodes *Cluster, change func(*Cloud)) (*Base, *Fleet[*box], func(call string) (int, string)) {
	t.Helper()
	g := NewWithT(t)
	b := NewBase(t.Context(), nodes, Times{}, 1)
	f := NewFleet[*box](b)
	c := Cloud{Handler: http.NotFoundHandler(), Instances: f}
	if change != nil {
		change(&c)
	}
	server := httptest.NewServer(b.Handler(c))
	t.Cleanup(server.Close)
	return b, f, func(call string) (int, string) {
		method, path, _ := strings.Cut(call, " ")
		request, err := http.NewRequestWithContext(t.Context(), method, server.URL+path, nil)
		g.Expect(err).NotTo(HaveOccurred())
		response, err := http.DefaultClient.Do(request)
		g.Expect(err).NotTo(HaveOccurred())
		defer response.Body.Close()
		body, err := io.ReadAll(response.Body)
		g.Expect(err).NotTo(HaveOccurred())
		return response.StatusCode, strings.TrimSpace(string(body))
	}
}

func TestHooksDoWhatTheySay(t *testing.T) {
	g := NewWithT(t)
	resets := 0
	b, f, call := served(t, nil, func(c *Cloud) {
		c.Reset = func() { resets++ }
		c.Hooks = map[string]Hook{"PUT /_sim/colour": func(r *http.Request) (any, error) { return r.FormValue("is"), nil }}
	})
	g.Expect(f.Launch(&box{name: "a"})).To(Succeed())
	b.Journal.CountCall("GET vm")
	b.Journal.CountRefusal("GET vm", "Denied")
	b.Journal.CountUnknown("GET moon")
	b.Journal.CountIgnored("GET vm", "phase")
	for _, step := range [][2]string{
		{"GET /_sim/healthz", "ok"},
		{"GET /_sim/instances", `["cloud:///zone/a"]`},
		{"GET /_sim/labels?id=a", `{"of":"a"}`},
		{"POST /_sim/instances/leak", `"cloud:///zone/copy-of-a"`},
		{"DELETE /_sim/instances?id=a", "null"},
		{"DELETE /_sim/instances?id=cloud:///zone/copy-of-a", "null"},
		{"GET /_sim/calls", `{"calls":{"GET vm":1},"writes":{},"refused":{"GET vm Denied":1},"unknown":{"GET moon":1},"ignored":{"GET vm phase":1}}`},
		{"GET /_sim/unknown", `["GET moon"]`},
		{"POST /_sim/faults?kind=noCapacity&type=t&zone=z&capacity=spot&count=2", `"noCapacity t z spot 2 times"`},
		{"POST /_sim/faults?kind=slow&by=3s&call=GET%20vm&rate=0.5", `"slow GET vm by 3s at a rate of 0.5"`},
		{"GET /_sim/faults", `[{"kind":"noCapacity","type":"t","zone":"z","capacity":"spot","count":2,"struck":0},` +
			`{"kind":"slow","call":"GET vm","by":3000000000,"rate":0.5,"struck":0}]`},
		{"DELETE /_sim/faults", "null"},
		{"GET /_sim/faults", "[]"},
		{"PUT /_sim/colour?is=red", `"red"`},
		{"POST /_sim/faults?kind=lost", `"lost"`},
		{"POST /_sim/reset", "null"},
		{"GET /_sim/faults", "[]"},
	} {
		status, body := call(step[0])
		g.Expect(status).To(Equal(http.StatusOK), step[0]+": "+body)
		g.Expect(body).To(Equal(step[1]), step[0])
	}
	g.Expect(resets).To(Equal(1))
	g.Eventually(f.Living).Should(BeEmpty(), "both were ended")
}

func TestHooksRefuseWhatTheyCanNotDo(t *testing.T) {
	_, f, call := served(t, nil, func(c *Cloud) {
		c.Hooks = map[string]Hook{
			"PUT /_sim/colour": func(*http.Request) (any, error) { return nil, errors.New("no such colour") },
		}
	})
	g := NewWithT(t)
	_, body := call("DELETE /_sim/instances?id=x")
	g.Expect(body).To(Equal(`there is no instance "x"; there are none`))
	for name := range strings.SplitSeq("abcdefg", "") {
		g.Expect(f.Launch(&box{name: name})).To(Succeed())
	}
	for hook, wrong := range map[string]string{
		"DELETE /_sim/instances":                     "parameter ?id= is missing: the name or the provider ID of an instance",
		"DELETE /_sim/instances?id=cloud:A":          ", cloud:///zone/d, cloud:///zone/e and 2 more",
		"GET /_sim/labels?id=x":                      `there is no instance "x"; there are`,
		"POST /_sim/nodes/silence?id=x":              `there is no instance "x"; there are`,
		"POST /_sim/nodes/speak?id=a":                "runs without a cluster (--alone)",
		"POST /_sim/faults":                          "there is no fault kind=; there are noCapacity, throttle",
		"POST /_sim/faults?kind=slow&by=3":           "?by=3: ",
		"POST /_sim/faults?kind=lost&count=x&rate=y": "?count=x: strconv.Atoi: parsing \"x\": invalid syntax\n?rate=y: ",
		"POST /_sim/faults?kind=lost&knd=x":          "there is no parameter ?knd=; there are action, by, call,",
		"PUT /_sim/colour":                           "no such colour",
	} {
		status, body := call(hook)
		g.Expect(status).To(Equal(http.StatusBadRequest), hook)
		g.Expect(body).To(ContainSubstring(wrong), hook)
	}
	for _, hook := range []string{"POST /_sim/nothing", "PUT /_sim/instances"} {
		status, body := call(hook)
		g.Expect(status).To(Equal(http.StatusNotFound))
		g.Expect(body).To(And(HavePrefix("there is no hook "+hook+"; there are:\nDELETE /_sim/faults\n"),
			ContainSubstring("\nPUT /_sim/colour")))
	}
}

func TestANodeIsSilencedByItsInstance(t *testing.T) {
	g := NewWithT(t)
	client := fake.NewClientset()
	_, f, call := served(t, &Cluster{client: client}, nil)
	g.Expect(f.Launch(&box{name: "a"})).To(Succeed())
	node := func() *corev1.Node {
		n, _ := client.CoreV1().Nodes().Get(t.Context(), "node-a", metav1.GetOptions{})
		return n
	}
	plays := HaveField("Annotations", HaveKey(played))
	g.Eventually(node).Should(plays)
	status, body := call("POST /_sim/nodes/silence?id=a")
	g.Expect(status).To(Equal(http.StatusOK), body)
	g.Expect(node()).NotTo(plays)
	status, body = call("POST /_sim/nodes/speak?id=cloud:///zone/a")
	g.Expect(status).To(Equal(http.StatusOK), body)
	g.Expect(node()).To(plays)
}
