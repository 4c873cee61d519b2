// Package draft writes the first adapter of a provider from its Helm chart. It finds out what each value of the
// chart does by rendering the chart with another value, so it knows no chart's conventions. What a chart can't
// tell, such as capabilities and hooks, becomes comments.
//
//	chart, err := draft.Open(ctx, helm.Run, "charts/karpenter")
//	adapter, err := draft.Write(ctx, chart, draft.Options{})
package draft
