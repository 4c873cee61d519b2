// Package install puts a provider on a cluster.
//
//	p, err := install.Prepare(ctx, cache, adapter, install.Selection{Version: "v1.9.0"})
//	i, err := p.Install(ctx, cluster, progress) // once for each cluster
//
// [Prepare] needs no cluster. It downloads the source module, builds the controller's image or
// opens the given one, renders the chart and reads the CRDs. [Prepared.Install] applies the
// provider's own manifests, as users do. It changes only the replicas (to one), the image, the
// env, the feature gates and the tolerations. It returns once the controller is ready, or with a [NotReady].
// That contains [LacksRights] if the provider's roles lack a right.
//
// [Installed.UpgradeCRDs] and [Installed.Upgrade] upgrade it to another release, as users do by kubectl
// and Helm. Helm's own command isn't used: it would need a release of its own in the cluster, and the same
// changes to the manifests as a plugin, and providers without a chart can be upgraded too.
//
// [Installed.Call] runs the adapter's hooks. They do what no Kubernetes API can, such as
// ending an instance in the cloud.
package install
