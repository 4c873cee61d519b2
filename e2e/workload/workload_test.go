package workload_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/plumbline-e2e/plumbline/e2e/workload"
)

func TestASeedAlwaysGivesTheSame(t *testing.T) {
	for _, name := range workload.Names() {
		g := NewWithT(t)
		text := func(seed uint64) string {
			w, err := workload.Named(name, seed)
			g.Expect(err).NotTo(HaveOccurred())
			data, err := json.Marshal(w)
			g.Expect(err).NotTo(HaveOccurred())
			return string(data)
		}
		g.Expect(text(7)).To(Equal(text(7)), name)
		g.Expect(text(7)).NotTo(Equal(text(8)), name)
	}
}

func TestActionsAreInOrderAndWithinTheLength(t *testing.T) {
	for _, name := range workload.Names() {
		g := NewWithT(t)
		w, err := workload.Named(name, 1)
		g.Expect(err).NotTo(HaveOccurred())
		last, present := time.Duration(0), map[string]bool{}
		for _, a := range w.Actions {
			key := a.Object.GetKind() + "/" + a.Object.GetName()
			g.Expect(a.At).To(BeNumerically(">=", last), "%s: %s", name, key)
			g.Expect(a.Delete).To(Or(BeFalse(), Equal(present[key])), "%s deletes %s, which isn't there", name, key)
			last, present[key] = a.At, !a.Delete
		}
		g.Expect(last).To(BeNumerically("<=", w.Length), name)
		g.Expect(len(w.Actions)).To(BeNumerically(">", 20), name)
	}
}

func TestUnknownNamesListTheKnownOnes(t *testing.T) {
	_, err := workload.Named("weak", 1)
	NewWithT(t).Expect(err).To(MatchError(ContainSubstring("night, rollout, spiky, teams, week")))
}

func write(t *testing.T, name string, content []byte) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	NewWithT(t).Expect(os.WriteFile(file, content, 0o600)).To(Succeed())
	return file
}

const deployment = `apiVersion: v1
kind: List
items:
- apiVersion: apps/v1
  kind: Deployment
  metadata:
    {name: web, namespace: shop, uid: "1", resourceVersion: "7", annotations: {deployment.kubernetes.io/revision: "3"}}
  spec:
    replicas: 3
    template:
      spec:
        serviceAccountName: web
        volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]
        containers: [{name: main, image: x, volumeMounts: [{name: data, mountPath: /data}]}]
  status: {replicas: 3}
- {apiVersion: v1, kind: Service, metadata: {name: web, namespace: shop}}
- apiVersion: v1
  kind: Pod
  metadata: {name: web-1, ownerReferences: [{kind: ReplicaSet, name: web, apiVersion: apps/v1, uid: "2"}]}
`

func TestObjectsOfAClusterStandFromTheStart(t *testing.T) {
	g := NewWithT(t)
	w, err := workload.Read(write(t, "shop.yaml", []byte(deployment)))
	g.Expect(err).NotTo(HaveOccurred())
	var kinds []string
	for _, a := range w.Actions {
		kinds = append(kinds, a.Object.GetKind())
	}
	g.Expect(kinds).To(Equal([]string{"NodePool", "Namespace", "Deployment"}))
	g.Expect(w.Actions[2].Object.Object).To(Equal(map[string]any{
		"apiVersion": "apps/v1", "kind": "Deployment",
		"metadata": map[string]any{"name": "web", "namespace": "shop"},
		"spec": map[string]any{
			"replicas": int64(3),
			"template": map[string]any{"spec": map[string]any{
				"containers": []any{map[string]any{"name": "main", "image": "x"}},
			}},
		},
	}))
	g.Expect(w.Notes).To(ConsistOf(
		"the file has no NodePool: there is one of on-demand nodes with up to 8 CPUs",
		"left out: 1 Pod of an owner, which makes it",
		"left out: 1 Service is neither a workload nor anything that decides where one runs",
		"left out: 1 volumes that are claimed, of Deployment",
	))
}

func TestBadFilesSayWhatIsWrong(t *testing.T) {
	for name, c := range map[string]struct{ content, says string }{
		"no YAML":             {"a: [", "document 1: neither YAML nor JSON"},
		"no objects":          {"a: 1\n---\nb: 2\n", "document 1, object 1: it is no object of Kubernetes"},
		"nothing to run":      {"apiVersion: v1\nkind: Service\nmetadata: {name: x}\n", "it has no workload"},
		"empty":               {"", "it has no workload"},
		"an old trace":        {`{"version": 1, "events": []}`, "of version 1; only version 2 can be read"},
		"a trace of nothing":  {`{"version": 2, "events": []}`, "without events"},
		"a trace cut off":     {"\x82\xa7version\x02\xa6eve", "ends in the middle of a value"},
		"a trace of no times": {`{"version": 2, "events": [{}]}`, "event 1 of the trace: it has no time"},
	} {
		_, err := workload.Read(write(t, "file", []byte(c.content)))
		NewWithT(t).Expect(err).To(MatchError(ContainSubstring(c.says)), name)
	}
}

// The same trace, in JSON and in MessagePack.
func TestTracesOfSimKubeKeepTheirTimes(t *testing.T) {
	pod := `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","namespace":"n"},"spec":{"containers":[]}}`
	text := `{"version":2,"config":{},"index":{},"pod_lifecycles":{},"events":[` +
		`{"ts":1700000000,"applied_objs":[` + pod + `],"deleted_objs":[]},` +
		`{"ts":1700000090,"applied_objs":[],"deleted_objs":[` + pod + `]}]}`
	packed := []byte("\x82\xa7version\x02\xa6events\x92")
	for i, ts := range []string{"\xce\x65\x53\xf1\x00", "\xce\x65\x53\xf1\x5a"} {
		object := "\x91\x84\xaaapiVersion\xa2v1\xa4kind\xa3Pod\xa8metadata\x82\xa4name\xa1p\xa9namespace\xa1n" +
			"\xa4spec\x81\xaacontainers\x90"
		lists := [2]string{object, "\x90"}
		packed = append(packed, "\x83\xa2ts"+ts+"\xacapplied_objs"+lists[i]+"\xacdeleted_objs"+lists[1-i]...)
	}
	for name, content := range map[string][]byte{"JSON": []byte(text), "MessagePack": packed} {
		g := NewWithT(t)
		w, err := workload.Read(write(t, "trace", content))
		g.Expect(err).NotTo(HaveOccurred(), name)
		g.Expect(w.Length).To(Equal(90*time.Second+30*time.Minute), name)
		last := w.Actions[len(w.Actions)-1]
		g.Expect(last.At).To(Equal(90*time.Second), name)
		g.Expect(last.Delete).To(BeTrue(), name)
		g.Expect(last.Object.GetName()).To(Equal("p"), name)
	}
}

func TestMomentsAreDaysAndTimes(t *testing.T) {
	g := NewWithT(t)
	g.Expect(workload.Moment(9*time.Hour + 5*time.Minute)).To(Equal("9:05"))
	g.Expect(workload.Moment(49 * time.Hour)).To(Equal("day 3, 1:00"))
}
