package hostnode

// Isolation is how a container's process is kept to its image's files.
type Isolation string

const (
	// Chroot: the process's root is a copy of the image, and it runs as the
	// image's (or the pod's) user. Needs root.
	Chroot Isolation = "chroot"
	// UserNamespace: as Chroot, by an unprivileged user namespace in which the
	// harness's own user bears the image's user id.
	UserNamespace Isolation = "userns"
	// None: the process sees this machine's files, and is started from the
	// unpacked image. Pods with volumes other than their service account's
	// token are refused, since their paths would be this machine's. For the
	// same reason clients that look for in-cluster files don't find them:
	// Karpenter then wants LEADER_ELECTION_NAMESPACE, or no leader election.
	None Isolation = "none"
)

// user is whom a process runs as.
type user struct{ uid, gid int64 }
