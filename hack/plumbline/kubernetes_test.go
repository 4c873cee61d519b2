package main

import (
	"os"
	"testing"

	. "github.com/onsi/gomega"
)

func TestARunOnKubernetesIsCheckedBeforeAnythingIsBuilt(t *testing.T) {
	g := NewWithT(t)
	t.Chdir("../..") // where adapters and lies lie
	read := func(on, kind string, env map[string]string) (*onKubernetes, error) {
		for _, name := range []string{
			"QUEUE", "REGISTRY", "SHARDS", "SHARD", "PROCS", "IMAGE", "FOCUS", "LIE", "START_WITHIN", "CLUSTER", "PROVIDER",
			"KUBECONFIG", "FOR", "SEED", "REPLAY",
		} {
			t.Setenv(name, env[name])
		}
		return readKubernetes(on, os.Args[0], []string{kind}, false)
	}

	_, err := read("docker", "e2e", map[string]string{
		"SHARD": "1/2", "PROCS": "many", "IMAGE": "./image.tar", "START_WITHIN": "soon", "QUEUE": "tests",
	})
	g.Expect(err).To(MatchError(And(
		ContainSubstring("ON=docker: say kubernetes"), ContainSubstring("REGISTRY is not set"),
		ContainSubstring("SHARD=1/2: "), ContainSubstring("PROCS=many: not a whole number"),
		ContainSubstring("IMAGE=./image.tar: pods pull it from a registry"),
		ContainSubstring("QUEUE=tests: Kueue's LocalQueues are in namespaces"),
		ContainSubstring("SHARDS=: say how many"), ContainSubstring("START_WITHIN=soon"),
	)), "all mistakes at once")

	given := map[string]string{"REGISTRY": "registry.example/team", "SHARDS": "2", "FOCUS": "^drift/", "KUBECONFIG": "/k"}
	k, err := read("kubernetes", "e2e", given)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(k.Env).To(Equal(map[string]string{"PROCS": "1", "FOCUS": "^drift/"}))
	g.Expect(k.Kubeconfig).To(Equal("/k"))

	given["SHARDS"] = "10000"
	_, err = read("kubernetes", "e2e", given)
	g.Expect(err).To(MatchError(MatchRegexp(`SHARDS=10000: only \d+ are selected`)))
	_, err = read("kubernetes", "mutants", given)
	g.Expect(err).To(MatchError(ContainSubstring(`"mutants": say e2e, lies, recall, crash, faults, explore`)))

	k, err = read("kubernetes", "lies", map[string]string{"REGISTRY": "r.example/t", "SHARDS": "3", "LIE": "schema"})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(k.Env).To(Equal(map[string]string{"PROCS": "1", "LIE": "schema"}))
	g.Expect(k.folders).To(Equal([]string{"providers/faulty"}))

	k, err = read("kubernetes", "crash", map[string]string{"REGISTRY": "r.example/t", "SHARDS": "3"})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(k.Command).To(HaveExactElements(HaveSuffix("plumbline"), "faults", "-binary", HaveSuffix("conformance.test"),
		"-patterns", "crash-before,crash-after"))

	explored := map[string]string{"REGISTRY": "r.example/t", "SHARDS": "3", "FOR": "30m", "SEED": "7"}
	k, err = read("kubernetes", "explore", explored)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(k.Env).To(Equal(map[string]string{"PROCS": "1", "FOR": "30m", "SEED": "7"}))
	explored["LIE"], explored["REPLAY"] = "all", "sequence.yaml"
	_, err = read("kubernetes", "explore", explored)
	g.Expect(err).To(MatchError(And(ContainSubstring("LIE=all: looking for lies by exploration is for one machine"),
		ContainSubstring("REPLAY=sequence.yaml: that is for runs on one machine"))))

	_, err = read("kubernetes", "e2e", map[string]string{"REGISTRY": "r.example/t", "SHARDS": "1", "CLUSTER": "kind"})
	g.Expect(err).To(MatchError(ContainSubstring("CLUSTER=kind: in pods clusters are local")))
	_, err = read("kubernetes", "e2e", map[string]string{"REGISTRY": "r.example/t", "SHARDS": "1", "PROVIDER": "azure"})
	g.Expect(err).To(MatchError(ContainSubstring("PROVIDER=azure: its controller has files at ")))
	_, err = read("kubernetes", "e2e",
		map[string]string{"REGISTRY": "r.example/t", "SHARDS": "1", "PROVIDER": "/elsewhere/adapter.yaml"})
	g.Expect(err).To(MatchError(ContainSubstring("the adapter cannot be read")))
}
