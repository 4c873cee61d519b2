package main

import (
	"os"
	"regexp"
	"slices"
	"testing"

	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
)

func TestCodeAndMetadataAgree(t *testing.T) {
	text, err := os.ReadFile("../lies/conversion.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var said []string
	for _, m := range regexp.MustCompile(`(?m)^- name: (\S+)$`).FindAllStringSubmatch(string(text), -1) {
		said = append(said, m[1])
	}
	if slices.Sort(said); !slices.Equal(said, names()) {
		t.Errorf("lies/conversion.yaml has the lies %q, and the code %q", said, names())
	}
}

// Copies are what the webhook converts.
func TestCopiesTellTheSameLie(t *testing.T) {
	lied := false
	l := lie{poolFrom: func(*v1.NodePool) { lied = true }}
	p, ok := (&pool{lie: l}).DeepCopyObject().(*pool)
	if !ok || p.lie.poolFrom == nil {
		t.Fatal("a copy of a NodePool is honest")
	}
	if p.lie.poolFrom(&p.NodePool); !lied {
		t.Error("a copy of a NodePool tells another lie")
	}
}
