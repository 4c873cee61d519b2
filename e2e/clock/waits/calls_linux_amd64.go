package waits

const (
	epollWait  = 232
	epollPwait = 281
)
