package install

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/plumbline-e2e/plumbline/providers"
)

func TestWebhooksAreWhereTheProviderIs(t *testing.T) {
	g := NewWithT(t)
	crds, err := ParseObjects([]byte(`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: converted}
spec: {conversion: {strategy: Webhook, webhook: {clientConfig: {service: {name: acme, namespace: kube-system, port: 8443}}}}}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: elsewhere}
spec: {conversion: {strategy: Webhook, webhook: {clientConfig: {service: {name: acme, namespace: kube-system, port: 443}}}}}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: plain}
spec: {}
`))
	g.Expect(err).NotTo(HaveOccurred())
	p := &Prepared{crds: crds, adapter: &providers.Adapter{
		Controller: providers.Controller{Ports: map[string]int{"metrics": 8080, "webhook": 8443}},
	}}
	moved := p.crdsFor(providers.Values{Namespace: "acme", Ports: map[string]int{"metrics": 20001, "webhook": 20002}})
	g.Expect(converter(moved[0])).To(HaveKeyWithValue("service", And(
		HaveKeyWithValue("namespace", "acme"), HaveKeyWithValue("port", BeEquivalentTo(20002)))))
	g.Expect(converter(moved[1])).To(HaveKeyWithValue("service", And(
		HaveKeyWithValue("namespace", "acme"), HaveKeyWithValue("port", BeEquivalentTo(443)))))
	g.Expect(converter(moved[2])).To(BeNil())
	g.Expect(converter(crds[0])).To(HaveKeyWithValue("service", HaveKeyWithValue("port", BeEquivalentTo(8443))),
		"unchanged")
}
