// Package install puts a provider on a cluster.
//
//	p, err := install.Prepare(ctx, cache, adapter, install.Selection{Version: "v1.9.0"})
//	i, err := p.Install(ctx, cluster, progress) // once for each cluster
//
// [Prepare] needs no cluster: it downloads the source module, builds the
// controller into an image or opens the given one, renders the chart and reads
// the CRDs. [Prepared.Install] applies the provider's own manifests, as its
// users do, and changes only four things in them: one replica, the image that was
// loaded, and the env and feature gates of the adapter. It returns once the controller is
// ready, or says why it is not: a [NotReady], which names the missing right
// if the provider's roles are to blame ([LacksRights]).
//
// What no Kubernetes API reaches, such as ending an instance in the cloud, is done by the
// adapter's hooks: [Installed.Call].
package install
