package image_test

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/plumbline-e2e/plumbline/e2e/image"
)

const someDigest = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

func TestName(t *testing.T) {
	for ref, want := range map[string]string{
		"oci:/cache/karpenter-kwok": "karpenter-kwok", "./build/My_Provider.tar": "my-provider", "app.tgz": "app",
		"public.ecr.aws/karpenter/controller:1.14.0": "controller", "localhost:5000/app": "app",
		"quay.io/a/b@sha256:00": "b", "docker:karpenter:dev": "karpenter", "binary:/bin/karpenter": "karpenter",
		"oci:/": "image",
	} {
		NewWithT(t).Expect(image.Name(ref, someDigest)).To(Equal("plumbline.local/"+want+":0123456789ab"), ref)
	}
}
