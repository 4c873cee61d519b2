package record

import (
	"encoding/json"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"sigs.k8s.io/yaml"

	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// redacted returns an object in YAML as the redactor leaves it, as JSON.
func redacted(t *testing.T, object string) string {
	t.Helper()
	raw, err := yaml.YAMLToJSON([]byte(object))
	if err != nil {
		t.Fatal(err)
	}
	out, err := (&redactor{[]byte("key")}).rewrite(karpenter.Pods, raw)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// value returns what is at a path of an object in JSON.
func value(t *testing.T, object string, path ...string) any {
	t.Helper()
	var at any
	if err := json.Unmarshal([]byte(object), &at); err != nil {
		t.Fatal(err)
	}
	for _, field := range path {
		switch v := at.(type) {
		case map[string]any:
			at = v[field]
		case []any:
			at = v[0].(map[string]any)[field]
		}
	}
	return at
}

// Every string of a company's begins with acme here, or is dropped as a whole.
const pod = `
apiVersion: v1
kind: Pod
metadata:
  name: acme-shop-7f-x
  generateName: acme-shop-7f-
  namespace: acme-prod
  uid: 1c9-77
  resourceVersion: "17"
  creationTimestamp: "2026-01-02T03:04:05Z"
  labels: {app: acme-shop, acme.example/team: acme-blue, app.kubernetes.io/name: acme-shop, tier: "1"}
  annotations:
    acme.example/owner: acme
    karpenter.sh/do-not-disrupt: "true"
    kubectl.kubernetes.io/last-applied-configuration: acme
  ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: acme-shop-7f, uid: 2d}]
  managedFields: [{manager: acme}]
spec:
  nodeName: acme-node-1
  priorityClassName: acme-high
  schedulerName: default-scheduler
  serviceAccountName: acme-shop
  nodeSelector: {acme.example/pool: acme-spot, karpenter.sh/capacity-type: spot, kubernetes.io/hostname: acme-node-1}
  tolerations: [{key: acme.example/dedicated, operator: Equal, value: acme-shop, effect: NoSchedule}]
  topologySpreadConstraints:
  - maxSkew: 1
    topologyKey: topology.kubernetes.io/zone
    whenUnsatisfiable: DoNotSchedule
    labelSelector:
      matchLabels: {app: acme-shop}
      matchExpressions: [{key: acme.example/team, operator: In, values: [acme-blue]}]
  containers:
  - name: acme
    image: registry.acme.example/shop:v1
    command: [acme]
    args: [--password=acme]
    env: [{name: ACME_TOKEN, value: acme}]
    ports: [{containerPort: 80, hostPort: 80, protocol: TCP}]
    resources: {requests: {cpu: 100m, acme.example/fpga: "1", nvidia.com/gpu: "2"}, claims: [{name: acme-claim}]}
  readinessGates: [{conditionType: acme.example/in-service}]
status:
  phase: Running
  podIP: 10.1.2.3
  conditions:
  - {type: Ready, status: "True", reason: AllIsWell, message: acme is ready, lastTransitionTime: "2026-01-02T03:04:06Z"}
`

func TestNothingOfACompanyIsLeft(t *testing.T) {
	g := NewWithT(t)
	out := redacted(t, pod)
	g.Expect(strings.ToLower(out)).NotTo(ContainSubstring("acme"))
	g.Expect(out).NotTo(ContainSubstring("10.1.2.3"))
	for _, gone := range []string{"env", "args", "command", "managedFields"} {
		g.Expect(out).NotTo(ContainSubstring(`"` + gone + `"`))
	}
	g.Expect(value(t, out, "metadata", "annotations")).To(Equal(map[string]any{"karpenter.sh/do-not-disrupt": "true"}))
}

func TestWhatDecidesStays(t *testing.T) {
	g := NewWithT(t)
	out := redacted(t, pod)
	for _, stays := range []string{
		`"apiVersion":"v1"`, `"kind":"Pod"`, `"uid":"1c9-77"`, `"resourceVersion":"17"`, `"2026-01-02T03:04:05Z"`,
		`"karpenter.sh/capacity-type":"spot"`, `"topologyKey":"topology.kubernetes.io/zone"`, `"DoNotSchedule"`,
		`"cpu":"100m"`, `"nvidia.com/gpu":"2"`, `"effect":"NoSchedule"`, `"phase":"Running"`, `"type":"Ready"`,
		`"status":"True"`, `"reason":"AllIsWell"`, `"schedulerName":"default-scheduler"`, `"hostPort":80`, `"kind":"ReplicaSet"`,
	} {
		g.Expect(out).To(ContainSubstring(stays))
	}
	g.Expect(out).NotTo(ContainSubstring("\n"), "it is on one line")
}

func TestWhatRefersToTheSameStillDoes(t *testing.T) {
	g := NewWithT(t)
	out := redacted(t, pod)
	g.Expect(value(t, out, "spec", "nodeName")).
		To(Equal(value(t, out, "spec", "nodeSelector", "kubernetes.io/hostname")), "a node by name and label")

	labels := value(t, out, "metadata", "labels").(map[string]any)
	spread := value(t, out, "spec", "topologySpreadConstraints", "labelSelector").(map[string]any)
	for key, v := range spread["matchLabels"].(map[string]any) {
		g.Expect(labels).To(HaveKeyWithValue(key, v), "a selector that selected the pod")
	}
	expression := spread["matchExpressions"].([]any)[0].(map[string]any)
	g.Expect(labels).To(HaveKeyWithValue(expression["key"], expression["values"].([]any)[0]))
	g.Expect(labels).To(ContainElement("1"), "numbers can be compared by Gt and Lt")
}

func TestAnEventStillSaysWhatForAPodIsMeant(t *testing.T) {
	g := NewWithT(t)
	out := redacted(t, `{apiVersion: v1, kind: Event, metadata: {name: acme.1}, reason: Nominated,
  message: "Pod should schedule on: nodeclaim/acme-7x, node/acme-1 of acme"}`)
	r := &redactor{[]byte("key")}
	g.Expect(value(t, out, "message")).To(Equal("nodeclaim/" + r.hash("acme-7x") + ", node/" + r.hash("acme-1")))
}

func TestAnotherClusterHasOtherHashes(t *testing.T) {
	g := NewWithT(t)
	one, other := &redactor{[]byte("one")}, &redactor{[]byte("other")}
	g.Expect(one.hash("shop")).NotTo(Equal(other.hash("shop")))
	g.Expect(one.hash("shop")).To(MatchRegexp("^r[0-9a-f]{12}$"))
}

func TestKeysOfNodeClassesAreReplaced(t *testing.T) {
	g := NewWithT(t)
	raw, err := yaml.YAMLToJSON([]byte(`
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: acme, uid: u, generation: 3, annotations: {acme.example/x: acme}}
spec:
  tags: {AcmeTeam: acme-blue}
  amiSelectorTerms: [{tags: {AcmeImage: "7"}}]
  kubelet: {systemReserved: {cpu: 100m}}
status:
  conditions: [{type: Ready, status: "True", reason: Ready, message: acme}]
  amis: [{id: ami-acme, name: acme}]
`))
	g.Expect(err).NotTo(HaveOccurred())
	out, err := (&redactor{[]byte("key")}).rewrite(ec2NodeClasses, raw)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(strings.ToLower(string(out))).NotTo(ContainSubstring("acme"))
	for _, stays := range []string{`"kind":"EC2NodeClass"`, `"generation":3`, `"type":"Ready"`, `"status":"True"`, `"tags"`} {
		g.Expect(string(out)).To(ContainSubstring(stays))
	}
}

func TestPoolsKeepTheirPolicies(t *testing.T) {
	g := NewWithT(t)
	out := redacted(t, `
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: acme, finalizers: [acme.example/hold, karpenter.sh/termination]}
spec:
  limits: {cpu: "8"}
  weight: 10
  disruption:
    consolidationPolicy: WhenEmpty
    consolidateAfter: 30s
    budgets: [{nodes: 10%, schedule: "@daily", duration: 8h, reasons: [Drifted]}]
  template:
    metadata: {labels: {acme.example/team: acme}, annotations: {acme.example/x: acme}}
    spec:
      expireAfter: 720h
      terminationGracePeriod: 1h
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: acme}
      taints: [{key: acme.example/dedicated, value: acme, effect: NoExecute}]
      requirements:
      - {key: topology.kubernetes.io/zone, operator: In, values: [eu-west-1a]}
      - {key: acme.example/team, operator: In, values: [acme], minValues: 1}
      - {key: karpenter.k8s.aws/instance-cpu, operator: Gt, values: ["4"]}
status:
  resources: {cpu: "4", nodes: "1"}
`)
	g.Expect(strings.ToLower(out)).NotTo(ContainSubstring("acme"))
	for _, stays := range []string{
		`"cpu":"8"`, `"cpu":"4"`, "WhenEmpty", "30s", "10%", "@daily", "8h", "Drifted", "720h", "1h", "EC2NodeClass",
		"eu-west-1a", `["4"]`, "karpenter.sh/termination", "NoExecute",
	} {
		g.Expect(out).To(ContainSubstring(stays))
	}
}
