package session

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	dynamicfake "k8s.io/client-go/dynamic/fake"

	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/providers"
)

func noClaims() *dynamicfake.FakeDynamicClient {
	return dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(),
		map[schema.GroupVersionResource]string{karpenter.NodeClaims: "NodeClaimList"})
}

func TestTheCollectorIsAwaited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		client := noClaims()
		const learns = 30 * time.Second
		time.AfterFunc(learns, func() {
			claims := client.Resource(karpenter.NodeClaims)
			left, err := claims.List(context.Background(), metav1.ListOptions{})
			if err == nil {
				_ = claims.Delete(context.Background(), left.Items[0].GetName(), metav1.DeleteOptions{})
			}
		})
		began := time.Now()
		g.Expect(awaitCollector(t.Context(), client)).To(Succeed())
		g.Expect(time.Since(began)).To(BeNumerically(">=", learns))
	})
}

func TestACollectorThatLeavesOrphansIsSaid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		g.Expect(awaitCollector(t.Context(), noClaims())).To(MatchError(MatchRegexp(
			"the cluster's garbage collector left NodeClaim orphan[a-z0-9]{5}, whose owner is gone: ")))
	})
}

// As for all names of NodeClaims: see package env's test of the strictest provider.
func TestAnOrphanHasANameThatAnyProviderTakes(t *testing.T) {
	NewWithT(t).Expect((&providers.NameRules{Max: 11, Pattern: "[a-z][a-z0-9]*"}).Accept(orphanedNodeClaim().GetName())).
		To(Succeed())
}
