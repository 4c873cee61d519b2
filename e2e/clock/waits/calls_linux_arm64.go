package waits

const (
	epollWait  = -1 // there is none here
	epollPwait = 22
)
