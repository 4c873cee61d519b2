package env

import (
	"testing"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/util/yaml"
)

func TestFieldsThatAreNotAsWanted(t *testing.T) {
	for _, c := range []struct {
		wanted, got string
		differing   []string
	}{
		{"{a: {b: 1}}", "{a: {b: 1, c: 2}, d: 3}", nil},
		{"{a: {b: 1}}", "{a: {b: 2}}", []string{"a.b is 2; wanted is 1"}},
		{"{a: {b: 1}}", "{}", []string{"a.b is none; wanted is 1"}},
		{"{a: {b: 1}}", "{a: x}", []string{`a is "x"; wanted is {"b":1}`}},
		{"{a: [{b: 1}, {b: 2}]}", "{a: [{b: 1, c: 3}, {b: 2}]}", nil},
		{"{a: [{b: 1}, {b: 2}]}", "{a: [{b: 2}, {b: 1}]}", []string{"a[0].b is 2; wanted is 1", "a[1].b is 1; wanted is 2"}},
		{"{a: [1]}", "{a: [1, 2]}", []string{"a is [1,2]; wanted is [1]"}},
		{"{a: []}", "{}", nil},
		{"{a: []}", "{a: [1]}", []string{"a is [1]; wanted is []"}},
		{"{a: null}", "{}", nil},
		{"{a: null}", "{a: false}", []string{"a is false; wanted is none"}},
		{"{a: false}", "{}", []string{"a is none; wanted is false"}},
		{"{a: 8h}", "{a: 8h0m0s}", nil},
		{"{a: 8h}", "{a: 8m}", []string{`a is "8m"; wanted is "8h"`}},
		{"{a: 8h}", "{a: Never}", []string{`a is "Never"; wanted is "8h"`}},
		{"{a: 1500m}", "{a: '1.5'}", nil},
		{"{a: 4}", "{a: '4'}", nil},
		{"{a: 1Gi}", "{a: 1G}", []string{`a is "1G"; wanted is "1Gi"`}},
		{"{a: x}", "{a: z}", []string{`a is "z"; wanted is "x"`}},
	} {
		g := NewWithT(t)
		var wanted, got map[string]any
		g.Expect(yaml.Unmarshal([]byte(c.wanted), &wanted)).To(Succeed())
		g.Expect(yaml.Unmarshal([]byte(c.got), &got)).To(Succeed())
		g.Expect(differences("", wanted, got)).To(Equal(c.differing), "%s of %s", c.wanted, c.got)
	}
}
