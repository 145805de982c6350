package api

// OrderIDHeader carries the id of a sale's order from a cluster's front to the replica that is to sell: the front knows it
// then even if the replica never answers, and can tell the buyer what to look for.
const OrderIDHeader = "X-Lockstep-Order-ID"
