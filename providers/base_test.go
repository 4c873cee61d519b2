package providers

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

func TestBase(t *testing.T) {
	g := NewWithT(t)
	kwok := Named("kwok")
	mine := loaded(t, `name: mine
base: kwok
controller:
  build: {module: .}
  env: {LIE: x}
  chart: {values: {replicas: 2, controller: {image: null}}}
  logs: {tolerate: [nothing]}
nodeClaim: null
hooks: {terminateInstance: null}
capabilities: {spot: {support: unsupported, why: none}, nodeRepair: unsupported}
`)
	g.Expect(mine.Name).To(Equal("mine"))
	g.Expect(mine.Source).To(Equal(kwok.Source))
	g.Expect(mine.Controller.Build).To(Equal(&Build{Module: ".", Package: "./kwok"}), "mappings are merged")
	g.Expect(mine.Controller.Env).To(HaveKeyWithValue("LIE", "x"))
	g.Expect(mine.Controller.Chart.Path).To(Equal(kwok.Controller.Chart.Path))
	g.Expect(mine.Controller.Chart.Values).
		To(And(HaveKeyWithValue("replicas", int64(2)), HaveKey("webhook")), "at any depth")
	g.Expect(mine.Controller.Chart.Values["controller"]).To(And(HaveKeyWithValue("image", BeNil()), HaveKey("metrics")))
	g.Expect(mine.Controller.Logs.Tolerate).To(Equal([]string{"nothing"}), "lists are replaced")
	g.Expect(mine.NodeClaim).To(BeZero(), "null takes away")
	g.Expect(kwok.Hooks).To(HaveKey(TerminateInstance))
	g.Expect(mine.Hooks).NotTo(HaveKey(TerminateInstance), "entries of mappings too")
	g.Expect(mine.NodePool).To(Equal(kwok.NodePool))
	g.Expect(mine.Capabilities).To(And(
		HaveKeyWithValue(Spot, Support{State: Unsupported, Why: "none"}),
		HaveKeyWithValue(NodeRepair, Support{State: Unsupported}),
		HaveKeyWithValue(NodePools, kwok.Capabilities[NodePools])))
	g.Expect(kwok.Controller.Env).NotTo(HaveKey("LIE"), "the base stays as it is")
}

func TestABaseThatThereIsNot(t *testing.T) {
	err := loaded(t, "name: mine\nbase: kwuk\ncolor: x\n"+good[len("name: acme\n"):]).Validate()
	NewWithT(t).Expect(err).To(MatchError(And(
		ContainSubstring("adapter.yaml:2:1: base: there is no built-in adapter `kwuk`, did you mean `kwok`?"),
		ContainSubstring("unknown field `color`"))))
}

func TestTheBaseOfSimulatedClouds(t *testing.T) {
	g := NewWithT(t)
	a := loaded(t, "name: mine\nbase: simulator\n"+good[len("name: acme\n"):]+`
simulator: {image: ./sim, port: 1}
hooks: {leakInstance: null, failNextLaunch: {poison: 3m}}
`)
	g.Expect(a.Validate()).To(Succeed())
	g.Expect(a.Simulator.Ready).To(Equal("/_sim/healthz"))
	g.Expect(a.Simulator.Image).To(Equal("./sim"))
	g.Expect(a.Hooks).NotTo(HaveKey(LeakInstance))
	g.Expect(a.Hooks[FailNextLaunch]).To(And(HaveField("Poison", 3*time.Minute), HaveField("HTTP", Not(BeNil()))))
	g.Expect(Names()).NotTo(ContainElement("simulator"))
	g.Expect(Named("simulator").Validate()).To(MatchError(ContainSubstring("`simulator` is no provider but the base of")))
	g.Expect(loaded(t, "name: mine\nbase: simulatr\n").Validate()).To(MatchError(ContainSubstring("did you mean `simulator`?")))
	g.Expect(loaded(t, "name: mine\nbase: simulator\n"+good[len("name: acme\n"):]).Validate()).
		To(MatchError(ContainSubstring("simulator: `image` or `build` is missing")))
}

// inFiles writes files into a new folder, and changes to it.
func inFiles(t *testing.T, files map[string]string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, text := range files {
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestABaseInAnotherFolder(t *testing.T) {
	g := NewWithT(t)
	inFiles(t, map[string]string{
		"acme/adapter.yaml": `name: acme
source: {module: example.com/acme, version: v1.2.3}
controller:
  build: {module: ., package: ./cmd/controller}
  chart: {path: charts/acme, values: {replicas: 1}}
  manifests: [maps.yaml]
  files: {/etc/acme/a: {file: a.json}, /etc/acme/b: {file: b.json}}
crds: [crds, $source/crds]
nodeClass: {apiVersion: acme.example/v1, kind: AcmeNodeClass}
nodePool: pool.yaml
simulator: {image: ./sim, port: 1, ready: /}
hooks:
  interrupt: {exec: [./interrupt.sh, ./x]}
  maintain: {exec: [kubectl, version]}
  rebalance: {exec: [./rebalance.sh]}
`,
		"acme/go.mod": "module acme\n", "acme/charts/acme/Chart.yaml": "", "acme/crds/a.yaml": "", "acme/maps.yaml": "",
		"acme/a.json": "", "acme/pool.yaml": "", "acme/second/b.json": "",
		"acme/second/adapter.yaml": `base: ../adapter.yaml
name: second
controller:
  files: {/etc/acme/b: {file: b.json}}
hooks: {rebalance: {exec: [./mine.sh]}}
`,
		"third.yaml": "base: acme/second/adapter.yaml\nname: third\n",
	})
	a := Load("third.yaml")
	g.Expect(a.Validate()).To(Succeed())
	g.Expect(a.Name).To(Equal("third"))
	g.Expect(a.Controller.Build.Module).To(Equal("acme"))
	g.Expect(a.Controller.Chart.Path).To(Equal("acme/charts/acme"))
	g.Expect(a.Controller.Manifests).To(Equal([]string{"acme/maps.yaml"}))
	g.Expect(a.Controller.Files).To(Equal(map[string]File{
		"/etc/acme/a": {File: "acme/a.json"}, "/etc/acme/b": {File: "acme/second/b.json"},
	}))
	g.Expect(a.CRDs).To(Equal([]CRDs{{Path: "acme/crds"}, {Path: "$source/crds"}}))
	g.Expect(a.NodePool.File).To(Equal("acme/pool.yaml"))
	g.Expect(a.Simulator.Image).To(Equal("./acme/sim"))
	g.Expect(a.Hooks[Interrupt].Exec).To(Equal([]string{"./acme/interrupt.sh", "./x"}), "only the program is a path")
	g.Expect(a.Hooks[Maintain].Exec).To(Equal([]string{"kubectl", "version"}))
	g.Expect(a.Hooks[Rebalance].Exec).To(Equal([]string{"./acme/second/mine.sh"}))
}

func TestAMistakeInABaseIsReportedThere(t *testing.T) {
	inFiles(t, map[string]string{
		"base/adapter.yaml": strings.Replace(good, "chart: {path: $source/charts/acme}",
			"chrat: {}\n  manifests: [none.yaml]", 1),
		"adapter.yaml": "base: base/adapter.yaml\ncoree: x\ncontroller: {namespace: A}\n",
	})
	NewWithT(t).Expect(Load("adapter.yaml").Validate()).To(MatchError(`the adapter has 4 mistakes:
  adapter.yaml:2:1: unknown field ` + "`coree`, did you mean `core`?" + `
  adapter.yaml:3:14: controller.namespace: ` + "`A`" + ` is not a namespace: a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')
  base/adapter.yaml:5:3: controller: unknown field ` + "`chrat`, did you mean `chart`?" + `
  base/adapter.yaml:6:15: controller.manifests[0]: base/none.yaml does not exist; paths are relative to the adapter or begin with $source/`))
}

func TestABaseOfItself(t *testing.T) {
	g := NewWithT(t)
	inFiles(t, map[string]string{
		"a.yaml": "base: sub/b.yaml\n", "sub/b.yaml": "base: ../a.yaml\n", "self.yaml": "base: ./self.yaml\n",
		"lost.yaml": "base: gone.yaml\n",
	})
	g.Expect(Load("a.yaml").Validate()).
		To(MatchError("sub/b.yaml:1:1: base: is a base of itself: a.yaml -> sub/b.yaml -> a.yaml"))
	g.Expect(Load("self.yaml").Validate()).
		To(MatchError("self.yaml:1:1: base: is a base of itself: self.yaml -> self.yaml"))
	g.Expect(Load("lost.yaml").Validate()).
		To(MatchError("lost.yaml:1:1: base: the adapter cannot be read: open gone.yaml: no such file or directory"))
}

// A built-in adapter's files would be looked up beside the adapter that extends it.
func TestBuiltInAdaptersHaveNoFilesOfTheirOwn(t *testing.T) {
	for _, name := range Names() {
		a := Named(name)
		for _, crds := range append(a.CRDs, CRDs{Path: a.Controller.Chart.Path}) {
			NewWithT(t).Expect(fromSource(crds.Path)).To(BeTrue(), "%s: %s", name, crds)
		}
		NewWithT(t).Expect(a.NodeClass.File + a.NodePool.File + a.NodeClaim.File).To(BeEmpty())
	}
}
