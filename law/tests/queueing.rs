//! The structs of the laws of queues are the same in C and in Rust.

use packetscale_law::queueing::{Qlbp, QlbpParams, Red, RedParams, Tdqm, TdqmParams, sizes};

#[test]
fn structs_have_the_size_that_c_gives_them() {
    let here = [
        size_of::<QlbpParams>(),
        size_of::<Qlbp>(),
        size_of::<RedParams>(),
        size_of::<Red>(),
        size_of::<TdqmParams>(),
        size_of::<Tdqm>(),
    ];
    assert_eq!(sizes(), here.map(|size| size as u64));
}
