package main

import (
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"
)

func TestAnEntryOfTheMatrixIsAJobForEachCombination(t *testing.T) {
	g := NewWithT(t)
	c := call{Name: "conformance", Adapter: "kwok", Root: ".", Matrix: `
- {karpenter: [v1.15.0, v1.14.3], k8s: ["1.36", "1.35"]}
- {"provider": "aws", "gates": "StaticCapacity=true,NodeRepair=true", "focus": "drift/(a|b)"} # JSON is YAML too
- {gates: NodeRepair=true}
- {gates: NodeRepair=false}
- {}
`}
	jobs, err := c.jobs()
	g.Expect(err).NotTo(HaveOccurred())
	var names, ids []string
	for _, j := range jobs {
		names, ids = append(names, j["name"]), append(ids, j["id"])
	}
	g.Expect(names).To(Equal([]string{
		"kwok v1.15.0 on 1.36", "kwok v1.15.0 on 1.35", "kwok v1.14.3 on 1.36", "kwok v1.14.3 on 1.35",
		"aws, with 2 gates, only drift/(a|b)", "kwok, with NodeRepair=true", "kwok, with NodeRepair=false", "kwok",
	}))
	g.Expect(ids).To(HaveExactElements("kwok-v1.15.0-on-1.36", "kwok-v1.15.0-on-1.35", "kwok-v1.14.3-on-1.36",
		"kwok-v1.14.3-on-1.35", "aws-with-2-gates-only-drift-a-b", "kwok-with-NodeRepair-true",
		"kwok-with-NodeRepair-false", "kwok"))
	g.Expect(jobs[4]).To(Equal(job{
		"provider": "aws", "gates": "StaticCapacity=true,NodeRepair=true", "focus": "drift/(a|b)",
		"name": "aws, with 2 gates, only drift/(a|b)", "id": "aws-with-2-gates-only-drift-a-b",
	}))
}

func TestSeveralMachinesShareAJob(t *testing.T) {
	g := NewWithT(t)
	c := call{Name: "x", Adapter: "kwok", Root: ".", Shards: "2", Matrix: `[{k8s: ["1.36", "1.35"]}]`}
	jobs, err := c.jobs()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(jobs).To(HaveLen(2))
	parts := c.parts(jobs)
	g.Expect(parts).To(HaveLen(4))
	g.Expect(parts[3]).To(Equal(job{
		"provider": "kwok", "k8s": "1.35", "shard": "2/2",
		"name": "kwok on 1.35 (part 2/2)", "id": "kwok-on-1.35.part-2-of-2",
	}))
	g.Expect(jobs[1]).NotTo(HaveKey("shard"))

	c.Shards = "1"
	g.Expect(c.parts(jobs)).To(Equal(jobs))
	for _, wrong := range []string{"0", "two"} {
		c.Shards = wrong
		_, err = c.jobs()
		g.Expect(err).To(MatchError(ContainSubstring("shards: %q is not a whole number", wrong)))
	}
	c.Shards = "200"
	_, err = c.jobs()
	g.Expect(err).To(MatchError(ContainSubstring("it makes 400 jobs")))
}

func TestJobsThatDifferInWhatANameLeavesOutHaveIDsOfTheirOwn(t *testing.T) {
	g := NewWithT(t)
	c := call{Name: "x", Adapter: "kwok", Root: ".", Focus: "^drift/", Matrix: `
- {gates: "StaticCapacity=true,NodeRepair=true"}
- {gates: "StaticCapacity=true,NodeRepair=false"}
- {gates: "StaticCapacity=false,NodeRepair=false"}
`}
	jobs, err := c.jobs()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(jobs).To(HaveExactElements(HaveKeyWithValue("id", "kwok-with-2-gates"),
		HaveKeyWithValue("id", "kwok-with-2-gates-2"), HaveKeyWithValue("id", "kwok-with-2-gates-3")))
	g.Expect(jobs).To(HaveEach(HaveKeyWithValue("focus", "^drift/")), "the call's focus wins")
}

func TestAllMistakesOfACallAreToldAtOnce(t *testing.T) {
	g := NewWithT(t)
	_, err := call{Name: "No Name", Adapter: "kwock", Root: t.TempDir(), Focus: "(", Matrix: `
- {k8s: 1.36}
- {k8s: ["1.20", "1.36"], karpenter: [], speed: "3"}
- {gates: StaticCapacity, provider: kwok}
- {provider: aws}
- {provider: aws}
`}.jobs()
	for _, mistake := range []string{
		`name: "No Name" has more than small letters`, "FOCUS=(: not a regular expression", "kwock",
		`matrix, entry 1, k8s: 1.36 is no string; write "..."`, "matrix, entry 2: K8S=1.20: ",
		"matrix, entry 2, karpenter: the list is empty", "matrix, entry 2, speed: there is no such variable; use provider",
		`matrix, entry 3: GATES=StaticCapacity: "StaticCapacity" is not a feature gate`, `matrix: "aws" is in it twice`,
	} {
		g.Expect(err).To(MatchError(ContainSubstring(mistake)))
	}

	for matrix, mistake := range map[string]string{
		"":                        "it is empty",
		"[]":                      "it is empty",
		"{":                       "want a list such as",
		`{"k8s": "1.36"}`:         "want a list such as",
		`[{k8s: "1.36", k8s: 1}]`: "already set",
	} {
		_, err := call{Name: "x", Adapter: "kwok", Root: ".", Matrix: matrix}.jobs()
		g.Expect(err).To(MatchError(ContainSubstring(mistake)), matrix)
	}
}

func TestACallTestsAnAdapterOrAFolder(t *testing.T) {
	g := NewWithT(t)
	root := t.TempDir()
	t.Chdir(root)
	g.Expect(os.MkdirAll("test/conformance", 0o755)).To(Succeed())
	g.Expect(os.MkdirAll(".plumbline", 0o755)).To(Succeed())
	g.Expect(os.WriteFile("test/conformance/conformance_test.go", nil, 0o600)).To(Succeed())
	g.Expect(os.WriteFile("test/plumbline.yaml", []byte("name: acme\nbase: kwok\n"), 0o600)).To(Succeed())
	t.Chdir(".plumbline")

	jobs, err := call{Name: "x", Folder: "test/conformance", Matrix: "[{}]", Root: root}.jobs()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(jobs).To(Equal([]job{{"name": "conformance", "id": "conformance"}}))
	jobs, err = call{Name: "x", Adapter: "test/plumbline.yaml", Matrix: "[{}]", Root: root}.jobs()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(jobs).To(Equal([]job{{
		"provider": filepath.Join("..", "test", "plumbline.yaml"), "name": "acme", "id": "acme",
	}}))

	_, err = call{Name: "x", Folder: "test", Adapter: "kwok", Matrix: "[{}]", Root: root}.jobs()
	g.Expect(err).To(MatchError(And(ContainSubstring(`folder: there is no *_test.go in "test"`),
		ContainSubstring("a test names its adapter"))))
	_, err = call{Name: "x", Matrix: "[{}]", Root: root}.jobs()
	g.Expect(err).To(MatchError(ContainSubstring("matrix, entry 1: nothing says what to test")))
	_, err = call{Name: "x", Adapter: "plumbline.yaml", Matrix: "[{}]", Root: root}.jobs()
	g.Expect(err).To(MatchError(ContainSubstring("../plumbline.yaml")))
}
