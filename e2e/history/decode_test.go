package history

import (
	"encoding/json"
	"os"
	"reflect"
	"testing"

	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// sameAsUsual compares decode with the usual decoder. It reports whether decode read text.
func sameAsUsual(t *testing.T, text []byte) (fast bool) {
	t.Helper()
	got, ok := decode(string(text))
	if !ok || !json.Valid(text) { // decode requires valid JSON
		return false
	}
	var want map[string]any
	if err := utiljson.Unmarshal(text, &want); err != nil {
		t.Fatalf("%s: decoded, though it is wrong: %v", text, err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s: %#v, want %#v", text, got, want)
	}
	return true
}

func TestDecode(t *testing.T) {
	for text, fast := range map[string]bool{
		`{}`: true,
		`{"a":1,"b":-2,"c":1.5,"d":1e3,"e":9223372036854775808,"f":true,"g":false,"h":null}`: true,
		`{"a":{"b":{},"c":[]},"d":[1,"x",[null]],"":""}`:                                     true,
		`{"a\"b":"c\\","d":"\u00e4\n","e":"ä"}`:                                              true,
		`{"a":1,"a":2}`:                                                                      true,
		`{"a": 1}`:                                                                           false,
		`{"a":1} `:                                                                           false,
		`[]`:                                                                                 false,
		`null`:                                                                               false,
		`{"a":1`:                                                                             false,
		`{"a`:                                                                                false,
		`{"a\`:                                                                               false,
		`{"a":}`:                                                                             false,
		`{"a":1e999}`:                                                                        false,
		"{\"a\":\"\xff\"}":                                                                   false,
		``:                                                                                   false,
	} {
		if sameAsUsual(t, []byte(text)) != fast {
			t.Errorf("%s: fast is %t, want %t", text, !fast, fast)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"a":[1,2.5,{"b":"c\n"}],"d":null}`))
	f.Fuzz(func(t *testing.T, text []byte) { sameAsUsual(t, text) })
}

// The fast decoder decodes every object of a real recording.
func TestDecodeRealObjects(t *testing.T) {
	file, err := os.Open("../check/testdata/drift.jsonl.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	h, err := Load(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range h.Events() {
		if !sameAsUsual(t, withoutManagedFields(e.Object.raw)) {
			t.Fatalf("not decoded: %s", e.Object.raw)
		}
	}
}
