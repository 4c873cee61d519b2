// Package record records a cluster that the harness didn't start, for as long as one likes: what Karpenter does
// there, and what for. It only reads.
//
//	c, err := record.Connect(record.Options{Kubeconfig: file, Folder: "recording"})
//	...
//	r, err := c.Record(ctx)
//	...
//	err = r.Stop()
//	h, err := history.LoadFile("recording")
//
// Recorded are NodePools, NodeClaims, NodeClasses, Nodes, Pods, PodDisruptionBudgets and Events; no Secrets and no
// ConfigMaps. Role is the ClusterRole that allows it, and no more.
//
// With Options.Redact, names and all that could tell about a company are replaced before anything is written: see
// redact.go.
package record
