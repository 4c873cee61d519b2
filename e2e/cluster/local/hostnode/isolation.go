package hostnode

// Isolation is how a container's process is confined to its image's files.
type Isolation string

const (
	// Chroot needs root. The process's root is a copy of the image, and it runs as the image's
	// (or the pod's) user.
	Chroot Isolation = "chroot"
	// UserNamespace is like Chroot, but without root: in the namespace, the harness's own user
	// has the image's user ID.
	UserNamespace Isolation = "userns"
	// None lets the process see this machine's files; it runs from the unpacked image. Pods
	// with volumes other than the service account's token are refused: their paths would be
	// this machine's. Clients don't find in-cluster files, so Karpenter needs
	// LEADER_ELECTION_NAMESPACE, or no leader election.
	None Isolation = "none"
)

// user is the user and group of a process.
type user struct{ uid, gid int64 }
