package providers

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

// good is the smallest valid adapter.
const good = `name: acme
source: {module: example.com/acme, version: v1.2.3}
controller:
  build: {package: ./cmd/controller}
  chart: {path: $source/charts/acme}
crds: [$source/pkg/apis/crds]
nodeClass: {apiVersion: acme.example/v1, kind: AcmeNodeClass}
`

// loaded writes the text as adapter.yaml into a new folder, changes to it, and loads the file.
func loaded(t *testing.T, text string) *Adapter {
	t.Helper()
	t.Chdir(t.TempDir())
	if err := os.WriteFile("adapter.yaml", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return Load("adapter.yaml")
}

func TestGoodAdapters(t *testing.T) {
	NewWithT(t).Expect(loaded(t, good).Validate()).To(Succeed())
	for _, name := range Names() {
		NewWithT(t).Expect(Named(name).Validate()).To(Succeed(), name)
	}
}

func TestMistakesOfAFile(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"three at once": {
			`name: acme
source: {module: example.com/acme, version: v1.2.3}
contoller: {image: x}
controller:
  image: registry.example/acme:1
  chart: {path: charts/acme}
  ready: {timeout: soon}
crds: [$source/crds]
nodeClass: {apiVersion: acme.example/v1, kind: AcmeNodeClass}
`,
			`the adapter has 3 mistakes:
  adapter.yaml:3:1: unknown field ` + "`contoller`, did you mean `controller`?" + `
  adapter.yaml:6:11: controller.chart.path: charts/acme does not exist; paths are relative to the adapter or begin with $source/
  adapter.yaml:7:20: controller.ready.timeout: the string ` + "`soon`" + ` where a duration is expected; write one such as 90s or 2m30s`,
		},
		"known failures": {
			good + `knownFailures:
- {spec: drift/one-to-one, releases: all of them, issue: "acme#1"}
- {spec: drift keeps nodes, releases: ">=1.0.0", issue: "acme#2", reason: it does not, breaks: ["left behind: (Node"]}
`,
			`the adapter has 5 mistakes:
  adapter.yaml:9:3: knownFailures[0].reason: missing; a known failure names its spec, the releases, the address of its issue or finding, the reason, and what it breaks
  adapter.yaml:9:3: knownFailures[0].breaks: missing; a known failure names its spec, the releases, the address of its issue or finding, the reason, and what it breaks
  adapter.yaml:9:28: knownFailures[0].releases: ` + "`all of them` is not a constraint such as \">=1.6.0 <=1.15.0\": improper constraint: all of them" + `
  adapter.yaml:10:4: knownFailures[1].spec: ` + "`drift keeps nodes` is not the ID of a spec such as drift/one-to-one; `make list` shows them all" + `
  adapter.yaml:10:97: knownFailures[1].breaks[0]: is not a regular expression of Go: error parsing regexp: missing closing ): ` + "`left behind: (Node`",
		},
		"wrong types": {
			good + `capabilities: [nodePools]
names: {max: many}
hooks: nothing
`,
			`the adapter has 3 mistakes:
  adapter.yaml:8:15: capabilities: a list where a mapping is expected
  adapter.yaml:9:14: names.max: the string ` + "`many`" + ` where an integer is expected
  adapter.yaml:10:8: hooks: the string ` + "`nothing`" + ` where a mapping is expected`,
		},
		"names that the suites have none of": {
			good + `names: {max: 8, pattern: "[a-z]+"}
`,
			`adapter.yaml:8:1: names: the name claim24567 has 10 characters, and the adapter's ` + "`names`" +
				` accepts at most 8; the suites use names of this form`,
		},
		"a number in env": {
			`name: acme
controller:
  image: registry.example/acme:1
  manifests: [m.yaml]
  env: {RETRIES: 3, "A=B": x}
crds: [crds]
nodeClass: acme.yaml
`,
			`the adapter has 5 mistakes:
  adapter.yaml:4:15: controller.manifests[0]: m.yaml does not exist; paths are relative to the adapter or begin with $source/
  adapter.yaml:5:18: controller.env.RETRIES: the number ` + "`3`" + ` where a string is expected; quote it: "3"
  adapter.yaml:5:21: controller.env.A=B: ` + "`A=B`" + ` is not the name of an environment variable
  adapter.yaml:6:8: crds[0]: crds does not exist; paths are relative to the adapter or begin with $source/
  adapter.yaml:7:1: nodeClass: acme.yaml does not exist; paths are relative to the adapter or begin with $source/`,
		},
		"unknown capability, state, hook and gate value": {
			good + `capabilities: {nodepools: supported, spot: maybe, nodeRepair: {support: supported, tolerance: 1m}}
hooks: {failNextLunch: {exec: [x]}, interrupt: {}}
`,
			`the adapter has 5 mistakes:
  adapter.yaml:8:16: capabilities.nodepools: unknown capability ` + "`nodepools`, did you mean `nodePools`?" + `
  adapter.yaml:8:38: capabilities.spot: unknown state ` + "`maybe`" + `; known are supported, unsupported, unknown
  adapter.yaml:8:84: capabilities.nodeRepair: unknown field ` + "`tolerance`, did you mean `toleration`?" + `
  adapter.yaml:9:9: hooks.failNextLunch: unknown hook ` + "`failNextLunch`, did you mean `failNextLaunch`?" + `
  adapter.yaml:9:37: hooks.interrupt: has 0 of ` + "`http`, `patch`, `patchNode`, `patchNodeClaim`, `removeNode` and `exec`" + `; write exactly one`,
		},
		"files for the controller": {
			strings.Replace(good, "  chart:", `  files:
    etc/acme.json: x
    /etc/acme.json: x
    /etc/acme/../a: x
    /etc/plumbline/x: x
    /opt/acme/number: 3
    /opt/acme/typo: "{{.Endpont}}"
    /opt/acme/missing: {file: missing.json}
    /opt/acme/folder: {file: .}
    /opt/acme/both: {flie: adapter.yaml}
  chart:`, 1),
			`the adapter has 9 mistakes:
  adapter.yaml:6:5: controller.files.etc/acme.json: ` + "`etc/acme.json`" + ` is not the path of a file in a folder; write one such as /etc/acme/cloud.json
  adapter.yaml:7:5: controller.files./etc/acme.json: would hide all other files in /etc; write a path in a folder of its own, such as /etc/acme/acme.json
  adapter.yaml:8:5: controller.files./etc/acme/../a: ` + "`/etc/acme/../a`" + ` is not the path of a file in a folder; write one such as /etc/acme/cloud.json
  adapter.yaml:9:5: controller.files./etc/plumbline/x: /etc/plumbline is the harness's own folder; write a path in another one
  adapter.yaml:10:23: controller.files./opt/acme/number: the number ` + "`3`" + ` where a string is expected; quote it: "3"
  adapter.yaml:11:5: controller.files./opt/acme/typo: unknown template field ` + "`.Endpont`, did you mean `.Endpoint`?" + `
  adapter.yaml:12:25: controller.files./opt/acme/missing.file: missing.json does not exist; paths are relative to the adapter or begin with $source/
  adapter.yaml:13:24: controller.files./opt/acme/folder.file: . is a folder; write the path of a file
  adapter.yaml:14:22: controller.files./opt/acme/both: unknown field ` + "`flie`, did you mean `file`?",
		},
		"a patch of no node, and one with a typo": {
			good + `hooks:
  throttle: {patchNode: {metadata: {}}}
  interrupt: {patchNode: {status: {x: "{{.NodeNam}}"}}, subresource: status}
  maintain: {exec: [x], subresource: status}
  rebalance: {patchNode: [x]}
  unreadyNodeClass: {patch: {status: {ready: false}}, subresource: stauts}
`,
			`the adapter has 5 mistakes:
  adapter.yaml:9:3: hooks.throttle: is called for no node; ` + "`patchNode`, `patchNodeClaim` and `removeNode`" + ` are for drifts, terminateInstance, replaceInstance, interrupt, rebalance, maintain
  adapter.yaml:10:36: hooks.interrupt.patchNode.status.x: unknown template field ` + "`.NodeNam`, did you mean `.NodeName`?" + `
  adapter.yaml:11:25: hooks.maintain.subresource: is only for a ` + "`patch`, a `patchNode` or a `patchNodeClaim`" + `
  adapter.yaml:12:26: hooks.rebalance.patchNode: a list where a mapping is expected
  adapter.yaml:13:55: hooks.unreadyNodeClass.subresource: ` + "`stauts`" + ` can't be patched; write status, or leave it out`,
		},
		"NodeClasses in two versions": {
			good + `capabilities:
  nodeClassConversion:
    nodeClasses:
      Disks:
        both: {spec: {disks: [20Gi]}, kind: AcmeNodeClass}
        v1: {metadata: x}
        written: v1alpha1
  conversion: {nodeClasses: {a: {v1beta2: {}}}}
`,
			`the adapter has 5 mistakes:
  adapter.yaml:11:7: capabilities.nodeClassConversion.nodeClasses.Disks: ` + "`Disks`" + ` is not a DNS label: lower-case letters, digits and ` + "`-`" + `
  adapter.yaml:12:39: capabilities.nodeClassConversion.nodeClasses.Disks.both.kind: only the mappings spec and metadata are compared
  adapter.yaml:13:14: capabilities.nodeClassConversion.nodeClasses.Disks.v1.metadata: only the mappings spec and metadata are compared
  adapter.yaml:14:9: capabilities.nodeClassConversion.nodeClasses.Disks.written: unknown version ` + "`v1alpha1`" + `; known are v1beta1, v1
  adapter.yaml:15:34: capabilities.conversion.nodeClasses.a: unknown field ` + "`v1beta2`, did you mean `v1beta1`?",
		},
		"a proxy for releases that can't be": {
			good + `simulator: {image: registry.example/sim:1, port: 4566, ready: /healthz, proxyReleases: soon, proxy: true}
`,
			`adapter.yaml:8:73: simulator.proxyReleases: "soon" is not a constraint such as ">=1.6.0 <=1.15.0": improper constraint: soon`,
		},
		"releases for no proxy": {
			good + `simulator: {image: registry.example/sim:1, port: 4566, ready: /healthz, proxyReleases: <1.1.0}
`,
			"adapter.yaml:8:73: simulator.proxyReleases: means nothing without `proxy: true`",
		},
		"a NodeClass in no version": {
			good + "capabilities:\n  nodeClassConversion: {until: \"1.1\"}\n",
			`adapter.yaml:9:3: capabilities.nodeClassConversion: ` + "`nodeClasses` is missing: what NodeClasses say in v1beta1 and in v1, which specs compare",
		},
		"charts that can't be": {
			strings.NewReplacer("{path: $source/charts/acme}", "{path: 'oci://registry.example/charts/acme:1.2.3'}",
				"crds: [$source/pkg/apis/crds]", `crds:
- {chart: oci://registry.example/charts/acme-crds}
- {chart: https://charts.example/acme, version: "{{.Vresion}}"}
- {chart: https://charts.example/, version: latest}
- {chart: acme-1.2.3.tgz, version: 1.2.3}
- {chart: .}
- {version: 1.2.3}
- {chart: https://charts.example/acme, version: 1.2}
- {cahrt: x}`).Replace(good),
			`the adapter has 12 mistakes:
  adapter.yaml:5:11: controller.chart.path: ` + "`oci://registry.example/charts/acme:1.2.3` has a tag; write it as the `version`" + `
  adapter.yaml:7:3: crds[0].version: missing; write the chart's version, such as 1.2.3, or {{slice .Version 1}}: without one, each release of the chart would change what is tested
  adapter.yaml:8:40: crds[1].version: unknown template field ` + "`.Vresion`, did you mean `.Version`?" + `
  adapter.yaml:9:4: crds[2].chart: ` + "`https://charts.example/`" + ` names no chart; its last element must, as in oci://registry.example/charts/acme or https://charts.example/acme
  adapter.yaml:9:36: crds[2].version: ` + "`latest`" + ` is not a version; write one such as 1.2.3
  adapter.yaml:10:4: crds[3].chart: acme-1.2.3.tgz does not exist; paths are relative to the adapter or begin with $source/
  adapter.yaml:10:27: crds[3].version: is only for a chart in a registry or repository; the version of a folder or an archive is in its Chart.yaml
  adapter.yaml:11:4: crds[4].chart: . holds no Chart.yaml; write the folder or the archive (.tgz) of a Helm chart
  adapter.yaml:12:3: crds[5].chart: missing; write the folder or the archive (.tgz) of a Helm chart, or an oci:// reference
  adapter.yaml:13:49: crds[6].version: the number ` + "`1.2`" + ` where a string is expected; quote it: "1.2"
  adapter.yaml:14:3: crds[7].chart: missing; write the folder or the archive (.tgz) of a Helm chart, or an oci:// reference
  adapter.yaml:14:4: crds[7]: unknown field ` + "`cahrt`, did you mean `chart`?",
		},
		"a management cluster": {
			good + `management:
  crds: [{chart: oci://registry.example/capi}, none]
  manifests: [none.yaml, adapter.yaml]
  kubeconfig: x
nodePool: {spec: {template: {spec: {x: "{{.Nothing}}"}}}}
`,
			`the adapter has 5 mistakes:
  adapter.yaml:9:10: management.crds[0].version: missing; write the chart's version, such as 1.2.3, or {{slice .Version 1}}: without one, each release of the chart would change what is tested
  adapter.yaml:9:48: management.crds[1]: none does not exist; paths are relative to the adapter or begin with $source/
  adapter.yaml:10:15: management.manifests[0]: none.yaml does not exist; paths are relative to the adapter or begin with $source/
  adapter.yaml:10:26: management.manifests[1]: adapter.yaml: unknown template field ` + "`.Nothing`; known are .Version, .ClusterName, .Endpoint, .Namespace, .Image.Name, .Image.Repository, .Image.Tag, .Image.Digest, .Simulator, .CA, .CAFile, .Management, .ManagementFile" + `
  adapter.yaml:11:3: management: unknown field ` + "`kubeconfig`; known are crds, manifests",
		},
		"what is there twice": {good + "name: other\n", "adapter.yaml:8:1: `name` is there twice, first in line 1"},
		"nothing":             {"", "adapter.yaml: the file is empty; write an adapter into it"},
		"not YAML": {
			"name: acme\n\t x: 1\n",
			"adapter.yaml:2:1: not YAML: found a tab character that violates indentation",
		},
		"a list": {"- name: acme\n", "adapter.yaml:1:1: a list where a mapping is expected"},
	} {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(loaded(t, c.text).Validate()).To(MatchError(c.want))
		})
	}
}

func TestTheVersionOfTheSource(t *testing.T) {
	g := NewWithT(t)
	a := loaded(t, good)
	for version, want := range map[string]string{
		"v1.15.0": "", "main": "", "release-v1.5.x": "", "6e7eab7a0f48": "", "1234567890": "",
		"1.15.0":    "`1.15.0` is not a version; write one such as v1.15.0, or a module's branch or commit",
		"":          "`` is not a version",
		"feature/x": "`feature/x` can't be asked of a Go module proxy, because of the slash; write the branch's commit",
		"a b":       "`a b` is not a version",
	} {
		a.Source.Version = version
		if want == "" {
			g.Expect(a.Validate()).To(Succeed(), version)
		} else {
			g.Expect(a.Validate()).To(MatchError(ContainSubstring("adapter.yaml:2:36: source.version: " + want)))
		}
	}
	a.Source.Version = "main"
	a.Controller.Chart.Values = map[string]any{"tag": "{{slice .Version 1}}"}
	g.Expect(a.Validate()).To(Succeed(), "a template is tried on a version")
}

func TestTheLabelWithCPUs(t *testing.T) {
	g := NewWithT(t)
	a := loaded(t, good+"cpuLabel: two words\n")
	g.Expect(a.Validate()).To(MatchError(ContainSubstring(
		"cpuLabel: `two words` is not a label such as karpenter.k8s.aws/instance-cpu")))
	a = loaded(t, good+"cpuLabel: acme.example/cpus\n")
	g.Expect(a.Validate()).To(Succeed())
}

// An image's version may be selected as a module's is.
func TestAVersionWithoutAModule(t *testing.T) {
	g := NewWithT(t)
	a := loaded(t, `name: acme
source: {version: v1.2.3}
controller: {image: "acme:{{.Version}}", chart: {path: oci://acme.example/acme, version: "{{slice .Version 1}}"}}
crds: [$chart]
nodeClass: {apiVersion: acme.example/v1, kind: AcmeNodeClass}
`)
	g.Expect(a.Validate()).To(Succeed())
	a.Source.Version = "main"
	a.CRDs = []CRDs{{Path: "$source/crds"}}
	g.Expect(a.Validate()).To(MatchError(And(ContainSubstring("source.version: `main` is not a version"),
		ContainSubstring("crds[0]: `source.module` is missing, the Go module that holds it"))))
}

func TestCRDsOfSomeReleases(t *testing.T) {
	g := NewWithT(t)
	with := func(releases string) error {
		a := loaded(t, good)
		a.CRDs = append(a.CRDs, CRDs{Path: a.CRDs[0].Path, Releases: releases})
		return a.Validate()
	}
	g.Expect(with(">=1.1.0 <1.5.5")).To(Succeed())
	g.Expect(with("soon")).To(MatchError(ContainSubstring(`crds[1].releases: "soon" is not a constraint such as`)))
}

func TestAnAliasThatContainsItself(t *testing.T) {
	err := loaded(t, good+"nodePool: &loop {spec: {again: *loop}}\n").Validate()
	NewWithT(t).Expect(err).To(MatchError(ContainSubstring("nested more than 64 deep")))
}

func TestAModuleInAFolderMustBeThere(t *testing.T) {
	g := NewWithT(t)
	for build, want := range map[string]string{
		"{module: acme, package: .}": "controller.build.module: acme holds no go.mod; write the folder of a Go " +
			"module, relative to the adapter",
		"{module: $source/tools, package: .}": "controller.build.module: `$source/tools` is not a folder beside the adapter",
	} {
		a := loaded(t, strings.Replace(good, "{package: ./cmd/controller}", build, 1))
		g.Expect(a.Validate()).To(MatchError(ContainSubstring(want)))
	}
	a := loaded(t, strings.Replace(good, "{package: ./cmd/controller}", "{module: ., package: .}", 1))
	g.Expect(os.WriteFile("go.mod", []byte("module example.com/acme\n"), 0o600)).To(Succeed())
	g.Expect(a.Validate()).To(Succeed())
}

func TestMistakesOfAStruct(t *testing.T) {
	g := NewWithT(t)
	a := &Adapter{
		Name:   "Acme Cloud",
		Source: Source{Module: "example.com/acme", Version: "latest"},
		Controller: Controller{
			Image: "registry.example/acme:{{.Vresion}}", Build: &Build{Package: "cmd/controller"},
			Chart: &Chart{Path: "$source/charts", Values: map[string]any{"metrics": "{{.Ports.metric}}", "x": "{{if}}"}},
			Ports: map[string]int{"metrics": 8080, "health": 99999},
			Ready: Ready{Timeout: -time.Second},
			Logs:  Logs{Tolerate: []string{"no subnets (found"}},
		},
		NodePool: Object{Inline: map[string]any{"spec": map[string]any{"template": map[string]any{"spec": map[string]any{
			"requirements": []any{map[string]any{"key": "a", "operator": "Is"}},
		}}}}},
		Simulator: &Simulator{Args: []string{"sim", "{{.Simulater}}"}},
	}
	g.Expect(a.Validate()).To(MatchError(`the adapter has 17 mistakes:
  name: ` + "`Acme Cloud`" + ` is not a DNS label such as kwok: a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')
  source.version: ` + "`latest`" + ` is not a version; write one such as v1.15.0, or a module's branch or commit
  controller: ` + "`image` and `build`" + ` exclude each other; keep one
  controller.build.package: ` + "`cmd/controller`" + ` is not a package of the module; write it relative to its root, such as ./cmd/controller
  controller.ports.health: 99999 is not a port; write 1 to 65535
  controller.ready.timeout: -1s is negative
  controller.logs.tolerate[0]: is not a regular expression of Go: error parsing regexp: missing closing ): ` + "`no subnets (found`" + `
  crds: missing; write the files or folders of the provider's CRDs, such as $source/pkg/apis/crds, or $chart
  controller.image: unknown template field ` + "`.Vresion`, did you mean `.Version`?" + `
  controller.chart.values.metrics: unknown template field ` + "`.Ports.metric`, did you mean `.Ports.metrics`?" + `
  controller.chart.values.x: not a template: :1: missing value for if
  nodeClass: missing; write the object, or the path of its file
  nodePool.spec.template.spec.requirements[0].operator: unknown operator ` + "`Is`, did you mean `In`?" + `
  simulator: ` + "`image` or `build`" + ` is missing; one of them says what runs
  simulator.port: 0 is not a port; write 1 to 65535
  simulator.ready: ` + "``" + ` is not an HTTP path such as /healthz
  simulator.args[1]: unknown template field ` + "`.Simulater`, did you mean `.Simulator`?"))
}

func TestUnknownProviders(t *testing.T) {
	g := NewWithT(t)
	g.Expect(Named("kwik").Validate()).
		To(MatchError("unknown provider `kwik`; use aws, azure, kwok, proxmox, or the path of an adapter's YAML file"))
	missing := filepath.Join(t.TempDir(), "plumbline.yaml")
	g.Expect(Named(missing).Validate()).
		To(MatchError(missing + ": the adapter cannot be read: open " + missing + ": no such file or directory"))
}
