pub mod geometry;
pub mod timing;
