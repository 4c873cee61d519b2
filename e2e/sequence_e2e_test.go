//go:build e2e

package e2e_test

import (
	"testing"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/explore"
	"github.com/plumbline-e2e/plumbline/providers"
)

// everyVerb is a sequence with each verb that KWOK's provider can do, but break-node, whose condition its default gates
// leave alone.
const everyVerb = `
name: every-verb
actions:
- do: apply
  object:
    apiVersion: karpenter.sh/v1
    kind: NodePool
    metadata: {name: pool}
    spec:
      disruption: {consolidateAfter: Never, budgets: [{nodes: 100%}]}
      template: {spec: {expireAfter: Never}}
- {do: fault, pattern: lose-answer, request: patch nodes}
- do: apply
  object:
    apiVersion: apps/v1
    kind: Deployment
    metadata: {name: app}
    spec:
      replicas: 3
      selector: {matchLabels: {app: app}}
      template:
        metadata: {labels: {app: app}}
        spec:
          nodeSelector: {karpenter.sh/nodepool: pool}
          affinity:
            podAntiAffinity:
              requiredDuringSchedulingIgnoredDuringExecution:
              - {topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: app}}}
          containers: [{name: main, image: registry.k8s.io/pause:3.10}]
  then: 20s
- {do: taint-node, node: 0}
- {do: protect-node, node: 1}
- {do: kill-controller}
- {do: start-agents}
- {do: delete-node, node: 7, then: 20s}
- {do: delete-nodeclaim, then: 20s}
- {do: hook, hook: terminateInstance, node: 2, then: 20s}
- {do: fault, pattern: cut-watches, request: watch pods}
- do: delete
  object: {apiVersion: apps/v1, kind: Deployment, metadata: {name: app}}
- {do: wait, then: 20s}
`

// A sequence is a spec like any other.
func TestSequenceWithEachVerb(t *testing.T) {
	suite := e2e.NewSuite("sequences")
	suite.AddSequence("play each verb", explore.MustParse(everyVerb))
	e2e.Run(t, providers.Named("kwok"), suite)
}
