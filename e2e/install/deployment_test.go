package install

import (
	"testing"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/providers"
)

const rendered = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: acme}
spec:
  replicas: 2
  selector: {matchLabels: {app: acme}}
  template:
    spec:
      tolerations: [{key: acme, operator: Exists}]
      containers:
        - {name: proxy, image: proxy}
        - name: controller
          image: released
          imagePullPolicy: Always
          env:
            - {name: LOG_LEVEL, value: info}
            - {name: FEATURE_GATES, value: "NodeRepair=false,StaticCapacity=true"}
            - {name: LOG_LEVEL, value: debug}
---
---
apiVersion: v1
kind: List
items:
  - {apiVersion: v1, kind: ServiceAccount, metadata: {name: acme}}
  - {apiVersion: acme.example/v1, kind: Setting, metadata: {name: acme}}
  - {apiVersion: v1, kind: Namespace, metadata: {name: acme}}
`

func parsed(t *testing.T, text string) []*unstructured.Unstructured {
	t.Helper()
	objects, err := ParseObjects([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return objects
}

func TestInstallOrder(t *testing.T) {
	var kinds []string
	for _, o := range inOrder(parsed(t, rendered)) {
		kinds = append(kinds, o.GetKind())
	}
	NewWithT(t).Expect(kinds).To(Equal([]string{"Namespace", "ServiceAccount", "Setting", "Deployment"}))
}

func TestAdjustedDeployment(t *testing.T) {
	g := NewWithT(t)
	p := &Prepared{adapter: &providers.Adapter{Controller: providers.Controller{
		Env:   map[string]string{"CLUSTER_NAME": "{{.ClusterName}}"},
		Gates: map[string]bool{"NodeRepair": true, "NodeOverlay": true},
	}}}
	m, err := p.adjust(parsed(t, rendered),
		providers.Values{ClusterName: "lab", Namespace: "kube-system", Image: providers.ParseImageName("acme:1")})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(m.selector).To(Equal("app=acme"))
	g.Expect(m.deployment.GetNamespace()).To(Equal("kube-system"))
	replicas, _, _ := unstructured.NestedInt64(m.deployment.Object, "spec", "replicas")
	g.Expect(replicas).To(Equal(int64(1)))
	tolerations, _, _ := unstructured.NestedSlice(m.deployment.Object, "spec", "template", "spec", "tolerations")
	g.Expect(tolerations).To(Equal([]any{
		map[string]any{"key": "acme", "operator": "Exists"},
		map[string]any{"key": "CriticalAddonsOnly", "operator": "Exists"},
	}))

	containers, _, err := unstructured.NestedSlice(m.deployment.Object, "spec", "template", "spec", "containers")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(containers[0]).To(Equal(map[string]any{"name": "proxy", "image": "proxy"}))
	g.Expect(containers[1]).To(Equal(map[string]any{
		"name": "controller", "image": "acme:1", "imagePullPolicy": "IfNotPresent",
		"env": []any{
			map[string]any{"name": "LEADER_ELECTION_NAMESPACE", "value": "kube-system"},
			map[string]any{"name": "LOG_LEVEL", "value": "debug"},
			map[string]any{"name": "CLUSTER_NAME", "value": "lab"},
			map[string]any{"name": "FEATURE_GATES", "value": "StaticCapacity=true,NodeOverlay=true,NodeRepair=true"},
		},
	}))
}

func TestABuiltImageRunsItsOnlyProgram(t *testing.T) {
	const command = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: acme}
spec:
  selector: {matchLabels: {app: acme}}
  template:
    spec:
      containers: [{name: acme, image: released, command: [/acme], args: [--verbose]}]
`
	for built, want := range map[bool][]string{true: nil, false: {"/acme"}} {
		p := &Prepared{adapter: &providers.Adapter{}, controller: loadable{built: built}}
		m, err := p.adjust(parsed(t, command), p.adapter.SampleValues(""))
		NewWithT(t).Expect(err).NotTo(HaveOccurred())
		NewWithT(t).Expect(m.container.Command).To(Equal(want))
		NewWithT(t).Expect(m.container.Args).To(Equal([]string{"--verbose"}))
	}
}

func TestPortsThatAChartWritesAsConstantsAreMoved(t *testing.T) {
	container := func(health int64) map[string]any {
		return map[string]any{
			"ports": []any{
				map[string]any{"name": "http", "containerPort": health}, map[string]any{"containerPort": int64(9)},
			},
			"livenessProbe":  map[string]any{"httpGet": map[string]any{"port": "http"}},
			"readinessProbe": map[string]any{"httpGet": map[string]any{"port": health}},
		}
	}
	c := container(8081)
	movePorts(c, map[string]int{"health": 8081, "metrics": 8080}, map[string]int{"health": 20001, "metrics": 20002})
	NewWithT(t).Expect(c).To(Equal(container(20001)))
}

func TestAControllerBehindAProxy(t *testing.T) {
	g := NewWithT(t)
	p := &Prepared{adapter: &providers.Adapter{
		Simulator:  &providers.Simulator{Proxy: true},
		Controller: providers.Controller{Env: map[string]string{"SSL_CERT_FILE": "/etc/roots.pem"}},
	}}
	chart := []any{map[string]any{"name": "HTTPS_PROXY", "value": "http://proxy.example"}}
	values := providers.Values{Endpoint: "https://10.1.2.3:6443", Simulator: "127.0.0.9:4566"}.WithCA("PEM")
	env, err := p.env(chart, values)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(env).To(ConsistOf(
		HaveKeyWithValue("name", "LEADER_ELECTION_NAMESPACE"),
		map[string]any{"name": "HTTPS_PROXY", "value": "http://127.0.0.9:4566"},
		map[string]any{"name": "SSL_CERT_FILE", "value": "/etc/roots.pem"}, // the adapter's wins
		And(HaveKeyWithValue("name", "NO_PROXY"), HaveKeyWithValue("value", And(
			HavePrefix("$(KUBERNETES_SERVICE_HOST),"), ContainSubstring(",.svc,"), HaveSuffix(",10.1.2.3,127.0.0.9")))),
	))

	p.adapter.Simulator.ProxyReleases = "<1.1.0"
	p.core = "v1.0.8"
	g.Expect(p.env(chart, values)).To(ContainElement(HaveKeyWithValue("name", "NO_PROXY")))
	p.core = "v1.1.5"
	g.Expect(p.env(chart, values)).To(ContainElement(chart[0]), "this release knows the cloud's address")
	p.adapter.Simulator.ProxyReleases = "soon"
	_, err = p.env(chart, values)
	g.Expect(err).To(MatchError(ContainSubstring(`"soon" is not a constraint`)))

	p.adapter.Simulator = &providers.Simulator{TLS: true}
	g.Expect(p.env(chart, values)).To(ContainElement(chart[0]), "TLS is no proxy")
}

func TestWhichDeployment(t *testing.T) {
	deployment := func(name string) string {
		return "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: " + name + "}\n"
	}
	for name, c := range map[string]struct{ text, wanted, want string }{
		"none": {
			"apiVersion: v1\nkind: Secret\nmetadata: {name: a}", "",
			"no Deployment is among the 1 manifests; the controller must be one: is this the right chart, and do its values " +
				"switch the controller off?",
		},
		"several": {
			deployment("a") + deployment("b"), "",
			"there are several Deployments; say in controller.deployment which is the controller: a, b",
		},
		"absent": {
			deployment("a") + deployment("b"), "c",
			"no Deployment is named c (controller.deployment); there are a, b",
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := controllerOf(parsed(t, c.text), c.wanted)
			NewWithT(t).Expect(err).To(MatchError(c.want))
		})
	}
}

func TestParseObjectsRefusesOtherYAML(t *testing.T) {
	_, err := ParseObjects([]byte("apiVersion: v1\nkind: Secret\nmetadata: {name: a}\n---\nfoo: bar\n"))
	NewWithT(t).Expect(err).To(MatchError("document 2 is no API object: apiVersion, kind and metadata.name are needed"))
}
