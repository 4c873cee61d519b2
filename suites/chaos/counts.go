package chaos

import "github.com/plumbline-e2e/plumbline/fixtures"

// starting is the key of a startup taint, with which a spec holds nodes between
// joining and being initialized for as long as it likes.
const starting = fixtures.Domain + "/starting"
