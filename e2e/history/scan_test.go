package history

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

func TestScanMeta(t *testing.T) {
	for name, c := range map[string]struct {
		object string
		want   meta
	}{
		"the order of Kubernetes' kinds": {
			`{"kind":"Pod","metadata":{"name":"a","namespace":"b","uid":"c","resourceVersion":"4","labels":{"name":"no"}},"spec":{"name":"no"}}`,
			meta{"b", "a", "c", "4"},
		},
		"the order of custom kinds": {
			`{"apiVersion":"x","metadata":{"annotations":{"a":"}\"{"},"managedFields":[{"f:metadata":{"f:name":{}}}],"name":"a","resourceVersion":"4","uid":"c"}}`,
			meta{"", "a", "c", "4"},
		},
		"odd but right": {
			"\t{ \"n\" : -1.5e3 , \"t\":true, \"x\":null,\"l\":[1,\"]\",{}], \"metadata\" : { \"name\" : \"q\\\"\\u0041\\\\\" " +
				", \"namespace\":null } }\n",
			meta{"", `q"A\`, "", ""},
		},
		"no metadata": {`{}`, meta{}},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			m, err := scanMeta([]byte(c.object), false)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(m).To(Equal(c.want))
		})
	}
	for _, broken := range []string{
		"", "17", `{"metadata":{"name":"a"`, `{"metadata":{"name":`, `{"metadata":17}`,
		`{"metadata":{"name":17}}`, `{"metadata":{"name":"a\`, `{"metadata" {}}`, `{x}`,
	} {
		_, err := scanMeta([]byte(broken), false)
		NewWithT(t).Expect(err).To(HaveOccurred(), broken)
	}
}

func TestWithoutManagedFields(t *testing.T) {
	g := NewWithT(t)
	g.Expect(string(withoutManagedFields([]byte(`{"metadata":{"managedFields":[{"a":"]"}],"name":"a"}}`)))).
		To(Equal(`{"metadata":{"managedFields":null,"name":"a"}}`))
	whole := []byte(`{"metadata":{"name":"managedFields"},"managedFields":[1]}`)
	g.Expect(withoutManagedFields(whole)).To(Equal(whole))

	o,
		err := NewObject(
		[]byte(`{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","managedFields":[{"manager":"m"}]},"spec":{"n":3}}`))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(o.Unstructured().GetManagedFields()).To(BeEmpty())
	g.Expect(string(o.Raw())).To(ContainSubstring("managedFields"))
	g.Expect(o.Unstructured().Object["spec"]).To(HaveKeyWithValue("n", int64(3)), "numbers as the API machinery has them")
}

// FuzzScan compares the scanner with encoding/json on well-formed JSON.
func FuzzScan(f *testing.F) {
	f.Add(`{"type":"ADDED","object":{"kind":"Pod","metadata":{"name":"a","managedFields":[{"x":{"\\":1}}]}}}`)
	f.Add(`{"object":{"metadata":{"name":"\"","uid":"\\"}},"type":"x","more":[1,2,{"a":null}]}`)
	f.Add(`{"type":"é","object":7}`)
	f.Fuzz(func(t *testing.T, in string) {
		var want struct {
			Type   string          `json:"type"`
			Object json.RawMessage `json:"object"`
		}
		got, err := scanFrame([]byte(in))
		members := map[string]json.RawMessage{}
		if json.Unmarshal([]byte(in), &members) != nil || json.Unmarshal([]byte(in), &want) != nil ||
			members["type"] == nil || members["object"] == nil || hasOddKeys(members) || strings.Count(in, `"object"`) > 1 {
			return // the scanner only must not crash
		}
		if want.Type == "" {
			return
		}
		if err != nil {
			t.Fatalf("%s: %v", in, err)
		}
		if got.Type != want.Type || string(got.Object) != string(want.Object) {
			t.Fatalf("%s: got %q %s, wanted %q %s", in, got.Type, got.Object, want.Type, want.Object)
		}
		short := withoutManagedFields(got.Object)
		if !json.Valid(short) {
			t.Fatalf("%s: %s is no JSON", in, short)
		}
	})
}

// hasOddKeys reports whether a key may have come twice or matched in another case.
func hasOddKeys(members map[string]json.RawMessage) bool {
	return len(members) != 2
}

func TestScanRealObjects(t *testing.T) {
	for _, file := range []string{"pod-fresh", "pod-settled", "node-fresh", "node-settled", "nodeclaim-settled"} {
		g := NewWithT(t)
		raw, err := os.ReadFile("testdata/" + file + ".json")
		g.Expect(err).NotTo(HaveOccurred())
		o, err := NewObject(raw)
		g.Expect(err).NotTo(HaveOccurred(), file)
		var want struct {
			Metadata struct{ Namespace, Name, UID, ResourceVersion string } `json:"metadata"`
		}
		g.Expect(json.Unmarshal(raw, &want)).To(Succeed())
		g.Expect(meta{o.Namespace, o.Name, o.UID, o.ResourceVersion}).To(Equal(meta(want.Metadata)))
	}
}
